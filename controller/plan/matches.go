package plan

import (
	"cmp"
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// MatchesAnnotation holds, on a pod of an Indexed Job, the number of earlier pods at its index that matched within each
// budget per index, as a JSON object of numbers by POLICY/RULE. A pod passes the numbers on to its replacement, with its
// own match, and is held until the replacement has ended. So no list grows with the number of indexes.
const MatchesAnnotation = "podverdict.io/matches"

// matches has the number of matches by ruleKey.
type matches map[string]int32

// readMatches parses the pod's annotation. An annotation that no Plan could have written counts as empty.
func (p *pod) readMatches() {
	text, given := p.Annotations[MatchesAnnotation]
	if !given {
		return
	}
	var read matches
	if err := json.Unmarshal([]byte(text), &read); err != nil || !read.plausible() {
		p.problems = append(p.problems, errMatches(p.Pod, text))
		return
	}
	p.matches = read
}

func (m matches) plausible() bool {
	for rule, number := range m {
		if number <= 0 || number > v1alpha1.MaxBudget || len(rule) > maxRuleKey {
			return false
		}
	}
	return len(m) <= maxBudgets
}

// sum returns the number of all matches.
func (m matches) sum() int {
	sum := 0
	for _, number := range m {
		sum += int(number)
	}
	return sum
}

// passed returns the matches that a pod passes on to its successor.
func (p *pod) passed() matches {
	if !p.matched {
		return p.matches
	}
	with := make(matches, len(p.matches)+1)
	maps.Copy(with, p.matches)
	with[p.rule]++
	return with
}

// addMatches sets the annotation on a new pod: for each rule, the highest number that a pod of the index carries. Pods
// that are no longer held are included.
func (n *next) addMatches(created *corev1.Pod, index int) {
	delete(created.Annotations, MatchesAnnotation) // ignore a value from the template
	most := n.matchesOf(index)
	if len(most) == 0 {
		return
	}
	text, _ := json.Marshal(most) //nolint:errchkjson // strings and numbers always have a JSON form
	metav1.SetMetaDataAnnotation(&created.ObjectMeta, MatchesAnnotation, string(text))
}

// matchesOf returns the matches that the next pod of an index starts with.
func (v *view) matchesOf(index int) matches {
	most := matches{}
	for _, p := range v.podsAt(index) {
		for rule, number := range p.passed() {
			most[rule] = max(most[rule], number)
		}
	}
	return most
}

// carrierOf picks the failed pod of a slot that carries the most matches, and of several the last, which knows all
// attempts. It stays held even when its successor exists, because a successor that is dismissed loses the values it
// carries. Indexes that the Job has lost are included, because they may come back.
func (v *view) carrierOf(s *slot) (last *pod) {
	for _, p := range s.pods {
		if !p.held || !p.failed || p.slot == none || !v.carries(p) {
			continue
		}
		if last == nil || cmp.Or(cmp.Compare(last.passed().sum(), p.passed().sum()), last.attempt-p.attempt, compareFinish(last, p)) < 0 {
			last = p
		}
	}
	return last
}

// carries reports whether a failed pod has data that the next pod at its index or slot needs.
func (v *view) carries(p *pod) bool {
	return len(p.passed()) > 0 || v.indexed && v.ReadsAttempts || p.Annotations[RetryAnnotation] != "" || p.matchesRetry()
}
