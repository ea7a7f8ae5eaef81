package plan

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/compiler/cel"
)

// EarlierAttemptsAnnotation lists, on a pod, the attempts that had failed when it was created, as a JSON list, newest
// first. Pods have it while rules read attempts. In an Indexed Job the list contains the attempts at the pod's index,
// otherwise the Job's.
const EarlierAttemptsAnnotation = "podverdict.io/earlier-attempts"

const (
	// maxHistory is the maximum size in bytes of a list of attempts as JSON. The oldest attempts are dropped if they do
	// not fit.
	maxHistory = 4 << 10
	// maxAnnotations is the API's maximum total size in bytes of an object's annotations.
	maxAnnotations = 256 << 10
)

// history is a list of failed attempts, newest first.
type history []cel.Attempt

// cut returns the newest attempts: at most cel.MaxAttempts, and at most room bytes as JSON.
func (h history) cut(room int) history {
	size := len("[]")
	for i := range h {
		text, _ := json.Marshal(h[i]) //nolint:errchkjson // strings, numbers and times always have a JSON form
		if i > 0 {
			size += len(",")
		}
		if size += len(text); i == cel.MaxAttempts || size > room {
			return h[:i]
		}
	}
	return h
}

func (h history) has(pod types.UID) bool {
	return slices.ContainsFunc(h, func(a cel.Attempt) bool { return a.Pod == pod })
}

// plausible reports whether a Plan could have written the list.
func (h history) plausible() bool {
	for i := range h {
		if h[i].Pod == "" || h[i].FinishTime.IsZero() || h[:i].has(h[i].Pod) {
			return false
		}
	}
	return len(h.cut(maxHistory)) == len(h)
}

// EarlierAttempts returns the attempts before each of a Job's pods, by pod name: at most 10, newest first. All pods must
// belong to the Job. They may come from files.
//
// A pod of a managed Job carries them if rules read attempts. For other pods they are those of the given pods that had
// failed when the pod was created, at the same index in an Indexed Job. Attempts whose pods are not given are then
// missing.
func EarlierAttempts(o Observation) map[string][]cel.Attempt {
	o.native, o.owned, o.ReadsAttempts = !Managed(o.Job), true, true
	earlier := make(map[string][]cel.Attempt, len(o.Pods))
	v := observe(o)
	for _, p := range v.all() {
		earlier[p.Name] = v.earlier(p)
	}
	return earlier
}

// judgePods evaluates the failed pods of a list. If rules read attempts, it does so in the order in which the pods
// finished, because the attempts name the rules that decided on them.
func (v *view) judgePods(pods []*pod) {
	if v.attempts {
		slices.SortFunc(pods, func(a, b *pod) int { return cmp.Or(falseFirst(!a.failed, !b.failed), compareFinish(a, b)) })
	}
	for _, p := range pods {
		if p.failed {
			p.judged = new(v.judge(p))
			p.verdict = p.judged
		}
		if v.attempts && v.isAttempt(p) {
			v.failures[v.line(p)] = inserted(v.failures[v.line(p)], p, compareFinish)
		}
	}
}

// isAttempt reports whether a pod is a failed attempt. A pod that was dismissed earlier is not an attempt.
func (v *view) isAttempt(p *pod) bool {
	return p.failed && (v.native || p.held || p.DeletionTimestamp == nil)
}

// line returns the index of a pod, or 0 in a Job without indexes. Pods of one line see each other as attempts.
func (v *view) line(p *pod) int {
	if v.indexed {
		return p.slot
	}
	return 0
}

// readHistory parses the attempts that a pod carries.
func (p *pod) readHistory() {
	text, carried := p.Annotations[EarlierAttemptsAnnotation]
	if !carried {
		return
	}
	read, ok := parseHistory(text)
	if !ok { // no Plan could have written it
		p.problems = append(p.problems, errHistory(p.Pod, text))
	}
	p.earlier = &read
}

// earlier returns the attempts before a pod, if rules read attempts: the attempts that the pod carries, else the pods
// that had failed when it was created. The latter are found lazily, because a Job may have many pods.
func (v *view) earlier(p *pod) history {
	if p.earlier == nil && v.attempts {
		p.earlier = new(v.failedBefore(p))
	}
	return ptr.Deref(p.earlier, nil)
}

// isBare reports whether a pod's earlier attempts depend on other pods, because the pod does not carry them.
func (v *view) isBare(p *pod) bool {
	_, carried := p.Annotations[EarlierAttemptsAnnotation]
	return v.attempts && (v.native || !carried)
}

// failedBefore returns the pods that had failed when a pod was created.
func (v *view) failedBefore(p *pod) history {
	failures := v.failures[v.line(p)]
	before, _ := slices.BinarySearchFunc(failures, p.CreationTimestamp.Time, func(failed *pod, created time.Time) int {
		if failed.finish.After(created) {
			return 1
		}
		return -1
	})
	var h history
	for _, failed := range slices.Backward(failures[max(0, before-cel.MaxAttempts-1):before]) {
		if failed != p {
			h = append(h, failed.asAttempt())
		}
	}
	return h.cut(maxHistory)
}

func parseHistory(text string) (history, bool) {
	var read history
	if len(text) > maxHistory || json.Unmarshal([]byte(text), &read) != nil || !read.plausible() {
		return nil, false
	}
	return read, true
}

// CarriedAttempts returns the earlier attempts carried by a pod that Next made while rules read attempts.
func CarriedAttempts(p *corev1.Pod) []cel.Attempt {
	carried, _ := parseHistory(p.Annotations[EarlierAttemptsAnnotation])
	return carried
}

// asAttempt returns a failed pod as an attempt.
func (p *pod) asAttempt() cel.Attempt {
	a := cel.AttemptOf(p.Pod, p.finish)
	a.Policy, a.Rule = p.verdict.Policy, p.verdict.RuleName
	return a
}

// addHistory sets the annotation on a new pod, after all others, because little room may be left for it.
func (n *next) addHistory(created *corev1.Pod, slot int) {
	delete(created.Annotations, EarlierAttemptsAnnotation) // ignore a value from the template
	if !n.ReadsAttempts {
		return
	}
	room := maxAnnotations - len(EarlierAttemptsAnnotation)
	for name, value := range created.Annotations {
		room -= len(name) + len(value)
	}
	if room < len("[]") {
		return
	}
	text, _ := json.Marshal(append(history{}, n.history(slot).cut(room)...)) //nolint:errchkjson // as for cut
	metav1.SetMetaDataAnnotation(&created.ObjectMeta, EarlierAttemptsAnnotation, string(text))
}

// history returns the attempts before the next pod of a slot. At an index, the last pod carries those before it.
func (n *next) history(slot int) history {
	if !n.indexed {
		return n.jobHistory()
	}
	pods := n.podsAt(slot)
	if len(pods) == 0 {
		return nil
	}
	last := pods[len(pods)-1]
	if !n.isAttempt(last) {
		return n.earlier(last)
	}
	return append(history{last.asAttempt()}, n.earlier(last)...).cut(maxHistory)
}

// jobHistory returns the last attempts of a Job without indexes: the attempts in the ledger, and the pods that have
// failed. If a pod is in both, the ledger's entry is used.
func (n *next) jobHistory() history {
	if n.indexed || !n.ReadsAttempts {
		return nil
	}
	if n.attempted == nil {
		all := append(history{}, n.view.ledger.Attempts...)
		for _, p := range n.failures[0] {
			if !n.view.ledger.Attempts.has(p.UID) {
				all = append(all, p.asAttempt())
			}
		}
		slices.SortFunc(all, compareAttempts)
		n.attempted = all.cut(maxHistory)
	}
	return n.attempted
}

// compareAttempts orders attempts by finish time, then by start time and UID, the last one first.
func compareAttempts(a, b cel.Attempt) int {
	return cmp.Or(b.FinishTime.Compare(a.FinishTime), b.StartTime.Compare(a.StartTime), cmp.Compare(b.Pod, a.Pod))
}

// lacksAttempt reports whether the stored ledger lacks an attempt that later pods need.
func (n *next) lacksAttempt(p *pod) bool {
	return n.isAttempt(p) && n.jobHistory().has(p.UID) && !n.view.ledger.Attempts.has(p.UID)
}
