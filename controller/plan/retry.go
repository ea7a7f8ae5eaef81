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

// RetryAnnotation is, on a pod, what the matches at its index or slot ask of the next attempts: Retries as a JSON object. A
// pod passes it on to its replacement with its own match, and is held until that has ended, as with MatchesAnnotation.
const RetryAnnotation = "podverdict.io/retry"

// maxAvoided is how many nodes the matches of a rule can avoid. Older ones are forgotten.
const maxAvoided = 10

// Retries are what the matches at an index ask of the next attempt, by POLICY/RULE.
type Retries map[string]Retried

// Retried is what the matches of one rule ask for.
type Retried struct {
	// Retry is the rule's, as of the last match.
	v1alpha1.Retry `json:",inline"`
	// OOMKilled is the number of matches in which a container ran out of memory, by its name. It is empty without memory.
	OOMKilled map[string]int32 `json:"oomKilled,omitempty"`
	// Nodes are those of the matches, newest first, at most 10. It is empty without avoidNode.
	Nodes []string `json:"nodes,omitempty"`
}

// CarriedRetries returns the retries that a pod was made with by Next. It is empty if no Plan can have written them.
func CarriedRetries(p *corev1.Pod) Retries {
	carried, _ := parseRetries(p.Annotations[RetryAnnotation])
	return carried
}

// RetriesAfter returns what the next attempt starts with after each failed pod, by pod name. All pods must be the Job's. They
// may come from files.
//
// A pod that Next has named carries what was before it. For other pods the given ones count that finished before, at the same
// index if there are indexes. Without indexes, a Job that runs one pod at a time is one line of attempts; otherwise nothing
// tells which pod replaces which, and only the pod's own match counts.
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

// parseRetries reads an annotation, and reports whether a Plan can have written it.
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

// matchesRetry reports whether a failed pod is a match of a rule with a retry. One that is not held is none: it was dismissed,
// or let go because nothing depends on it.
func (p *pod) matchesRetry() bool { return p.failed && p.held && p.verdict.Retry != nil }

// passedRetries returns what a pod passes on to its successor: what it carries, and its own match.
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

// replaced returns the retries with those of a later pod in place of its rules' earlier ones.
func (r Retries) replaced(later Retries) Retries {
	if len(r) == 0 {
		return later
	}
	all := maps.Clone(r)
	maps.Copy(all, later)
	return all
}

// retriesAt returns what the next pod of a slot starts with. The last pod knows what those before it passed on.
func (v *view) retriesAt(slot int) Retries {
	var last Retries
	for _, p := range v.podsAt(slot) {
		last = last.replaced(v.passedRetries(p))
	}
	return last
}

// awaitsRetry reports whether a decision at a slot has to be stored before the next pod gets what it depends on.
func (v *view) awaitsRetry(slot int) bool {
	return v.unstored && slices.ContainsFunc(v.podsAt(slot), func(p *pod) bool { return p.decision == unstored && p.judged.Retry != nil })
}

// addRetries gives a new pod what the matches at its slot ask for, and has it carry them.
func (n *next) addRetries(created *corev1.Pod, slot int) {
	delete(created.Annotations, RetryAnnotation) // a value from the template means nothing
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
