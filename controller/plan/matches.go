package plan

import (
	"cmp"
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// MatchesAnnotation of a pod of an Indexed Job is how many pods of its index, before it, have used the budgets of rules that
// each index has: numbers by POLICY/RULE, as a JSON object. A pod passes them on to its replacement, with its own match, and
// is held until that has ended; so they need no list that grows with the indexes.
const MatchesAnnotation = "podverdict.io/matches"

// matches are numbers of matches by ruleKey.
type matches map[string]int32

// readMatches takes the pod's annotation. One that cannot be ours counts as empty.
func (v *view) readMatches(p *pod) matches {
	text, given := p.Annotations[MatchesAnnotation]
	if !given {
		return nil
	}
	var read matches
	if err := json.Unmarshal([]byte(text), &read); err != nil || !read.plausible() {
		v.problems = append(v.problems, errMatches(p.Pod, text))
		return nil
	}
	return read
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

// passed returns the matches that a pod's successor begins with.
func (p *pod) passed() matches {
	if !p.matched {
		return p.matches
	}
	with := make(matches, len(p.matches)+1)
	maps.Copy(with, p.matches)
	with[p.rule]++
	return with
}

// addMatches passes on the matches of the index: of each rule the most that a pod knows of. One that is not held may still
// tell.
func (n *next) addMatches(created *corev1.Pod, index int) {
	delete(created.Annotations, MatchesAnnotation) // the template has none to give
	most := n.matchesOf(index)
	if len(most) == 0 {
		return
	}
	text, _ := json.Marshal(most) //nolint:errchkjson // strings and numbers always have a JSON form
	metav1.SetMetaDataAnnotation(&created.ObjectMeta, MatchesAnnotation, string(text))
}

// matchesOf returns what the next pod of an index begins with.
func (v *view) matchesOf(index int) matches {
	most := matches{}
	for _, p := range v.podsAt(index) {
		for rule, number := range p.passed() {
			most[rule] = max(most[rule], number)
		}
	}
	return most
}

// findCarriers picks, for each index that may be tried again, the failed pod that knows of the most matches, and of those the
// last. It is held even when its successor is there: that may be dismissed, and what it knows goes with it. An index that the
// Job has lost may come back.
func (t *tally) findCarriers(v *view) {
	ended := t.completed.union(t.failedIndexes)
	last := map[int]*pod{}
	for _, p := range v.pods {
		if !p.held || !p.failed || p.slot == none || len(p.passed()) == 0 || ended.has(p.slot) {
			continue
		}
		other, found := last[p.slot]
		if !found || cmp.Or(cmp.Compare(other.passed().sum(), p.passed().sum()), compareFinish(other, p)) < 0 {
			last[p.slot] = p
		}
	}
	t.carriers = make(map[types.UID]bool, len(last))
	for _, p := range last {
		t.carriers[p.UID] = true
	}
}
