package plan

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/runtime"
)

// RetryAnnotation holds, on a pod, the Retries requested by the matches at its index or slot, as a JSON object. A pod
// passes it on to its replacement with its own match, and is held until the replacement has ended, as with
// MatchesAnnotation.
const RetryAnnotation = "podverdict.io/retry"

// maxAvoided is the maximum number of nodes that the matches of a rule can avoid. Older nodes are forgotten.
const maxAvoided = 10

// Retries has the requests of the matches at an index for the next attempt, by POLICY/RULE.
type Retries map[string]Retried

// Retried has the requests of one rule's matches.
type Retried struct {
	// Retry is the rule's retry, as of the last match.
	v1alpha1.Retry `json:",inline"`
	// OOMKilled is the number of matches in which a container ran out of memory, by its name. It is empty without memory.
	OOMKilled map[string]int32 `json:"oomKilled,omitempty"`
	// Nodes lists the nodes of the matches, newest first, at most 10. It is empty without avoidNode.
	Nodes []string `json:"nodes,omitempty"`
}

// CarriedRetries returns the retries that a pod was made with by Next. It is empty if no Plan could have written them.
func CarriedRetries(p *corev1.Pod) Retries {
	carried, _ := parseRetries(p.Annotations[RetryAnnotation])
	return carried
}

// RetriesAfter returns the retries for the attempt after each failed pod, by pod name. All pods must belong to the Job.
// They may come from files.
//
// A pod that Next has named carries the retries before it. For other pods, RetriesAfter uses the given pods that finished
// before, at the same index in an Indexed Job. Without indexes, a Job that runs one pod at a time is one line of
// attempts; otherwise nothing records which pod replaces which, and only the pod's own match counts.
func RetriesAfter(o Observation) map[string]Retries {
	o.native = !Managed(o.Job)
	v := observe(uncounted(o))
	pods := slices.Clone(v.byFailure)
	slices.SortFunc(pods, func(a, b *pod) int { return cmp.Or(a.attempt-b.attempt, compareFinish(a, b)) })
	after, last := make(map[string]Retries, len(pods)), map[string]Retries{}
	for _, p := range pods {
		_, _, placed := v.namer.place(v.Job, p.Pod)
		line, named := strconv.Itoa(p.slot), placed && !v.native
		if oneByOne := v.completions == 1 || ptr.Deref(v.Job.Spec.Parallelism, 1) == 1; !named && !v.indexed && !oneByOne {
			line = p.Name
		}
		if named {
			last[line] = last[line].replaced(v.passedRetries(p))
		} else if p.matchesRetry() {
			last[line] = last[line].After(*p.verdict, p.Pod)
		}
		after[p.Name] = last[line]
	}
	return after
}

// parseRetries parses an annotation, and reports whether a Plan could have written it.
func parseRetries(text string) (Retries, bool) {
	var read Retries
	if json.Unmarshal([]byte(text), &read) != nil {
		return nil, false
	}
	for rule, retried := range read {
		if len(rule) > maxRuleKey || !retried.plausible() {
			return nil, false
		}
	}
	return read, true
}

func (r Retried) plausible() bool {
	return (r.Memory == nil || r.Memory.Hundredths() > 100 && r.Memory.MaxBytes() > 0) && len(r.Nodes) <= maxAvoided &&
		slices.Contains([]v1alpha1.AvoidNode{"", v1alpha1.AvoidPreferred, v1alpha1.AvoidRequired}, r.AvoidNode)
}

// matchesRetry reports whether a failed pod matches a rule with a retry. A pod that is not held does not match: it was
// dismissed, or released because nothing depends on it.
func (p *pod) matchesRetry() bool { return p.failed && p.held && p.verdict.Retry != nil }

// passedRetries returns the retries that a pod passes on to its successor: those it carries, and its own match.
func (v *view) passedRetries(p *pod) Retries {
	text, carried := p.Annotations[RetryAnnotation]
	passed, ok := parseRetries(text)
	if carried && !ok {
		v.problems = append(v.problems, errRetries(p.Pod, text))
	}
	if p.matchesRetry() {
		return passed.After(*p.verdict, p.Pod)
	}
	return passed
}

// After returns the retries after the match of a failed pod, whose rule must have a retry.
func (r Retries) After(v runtime.Verdict, p *corev1.Pod) Retries {
	key := ruleKey(v)
	before, now := r[key], Retried{Retry: *v.Retry}
	if now.Memory != nil {
		now.OOMKilled = map[string]int32{}
		maps.Copy(now.OOMKilled, before.OOMKilled)
		for _, container := range cel.OOMKilled(p) {
			now.OOMKilled[container]++
		}
	}
	if now.AvoidNode != "" {
		now.Nodes = before.Nodes
		if node := p.Spec.NodeName; node != "" {
			others := slices.DeleteFunc(slices.Clone(before.Nodes), func(other string) bool { return other == node })
			now.Nodes = append([]string{node}, others[:min(len(others), maxAvoided-1)]...)
		}
	}
	after := r.replaced(Retries{key: now})
	if len(now.OOMKilled)+len(now.Nodes) == 0 {
		delete(after, key)
	}
	return after
}

// replaced returns the retries with a later pod's retries added, which replace earlier ones of the same rules.
func (r Retries) replaced(later Retries) Retries {
	if len(r) == 0 {
		return later
	}
	all := maps.Clone(r)
	maps.Copy(all, later)
	return all
}

// retriesAt returns the retries that the next pod of a slot starts with. The last pod carries those of the pods before
// it.
func (v *view) retriesAt(slot int) Retries {
	var last Retries
	for _, p := range v.podsAt(slot) {
		last = last.replaced(v.passedRetries(p))
	}
	return last
}

// awaitsRetry reports whether a decision at a slot must be stored before the next pod can be made with its retries.
func (v *view) awaitsRetry(slot int) bool {
	return v.unstored && slices.ContainsFunc(v.podsAt(slot), func(p *pod) bool { return p.decision == unstored && p.judged.Retry != nil })
}

// addRetries applies the retries of a slot's matches to a new pod, and adds them as its annotation.
func (n *next) addRetries(created *corev1.Pod, slot int) {
	delete(created.Annotations, RetryAnnotation) // ignore a value from the template
	retries := n.retriesAt(slot)
	if len(retries) == 0 {
		return
	}
	var changes []Mended
	if created.Spec, changes = retries.Mend(&created.Spec); len(changes) > 0 {
		if n.plan.Mended == nil {
			n.plan.Mended = map[string][]Mended{}
		}
		n.plan.Mended[created.Name] = changes
	}
	text, _ := json.Marshal(retries) //nolint:errchkjson // strings and numbers always have a JSON form
	metav1.SetMetaDataAnnotation(&created.ObjectMeta, RetryAnnotation, string(text))
}
