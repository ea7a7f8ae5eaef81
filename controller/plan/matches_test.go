package plan

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

func (b podBuilder) matched(text string) podBuilder { return b.annotated(MatchesAnnotation, text) }

// once is the annotation after one match of the rule on code 51, twice the annotation after two.
const (
	once  = `{"gpu/code-51":1}`
	twice = `{"gpu/code-51":2}`
)

// TestBudgetOfIndex tests that earlier pods of an index use up its budget.
func TestBudgetOfIndex(t *testing.T) {
	ix, pi := indexed(3, 1).started().replaceFailed(), perIndex(3, 1, 9).started().replaceFailed()
	rules := customRules{51: ignoring().upTo(2, v1alpha1.PerIndex, count)}
	ends := customRules{51: ignoring().upTo(2, v1alpha1.PerIndex, failIndex)}
	p := func(attempt int) podBuilder { return podOf(ix, 0, attempt) }
	one := numbers(1, 0, 0)
	runAll(t, []behaviour{
		{name: "the first", job: ix, rules: rules, pods: []podBuilder{p(0).exited(51, 5)}, second: 60, want: want{create: []string{"0/1"}, status: numbers(0, 0, 0), ledger: "-"}},
		{name: "FailIndex when it is used up", job: pi, rules: ends, pods: []podBuilder{p(2).matched(twice).exited(51, 5)}, second: 60,
			want: want{create: []string{"1/0"}, status: all(numbers(0, 0, 1), failedIndexes(new("0")))}},
		{name: "and while there is none", job: ix.suspended(), rules: rules, pods: []podBuilder{p(0).exited(51, 5).deleted(6)}, second: 60,
			want: want{status: numbers(0, 0, 0), events: []string{"Suspended"}}},
		{name: "held though it is no match itself, and counted", job: ix, rules: rules, pods: []podBuilder{p(1).matched(once).exited(1, 5).deleted(6), p(2).matched(once).ready()}, second: 60,
			want: want{status: numbers(1, 0, 1), ledger: "-"}},
		{name: "let go when its successor has ended", job: ix, rules: rules, second: 60,
			pods: []podBuilder{p(0).exited(51, 5).deleted(6), p(1).matched(once).exited(1, 9), podOf(ix, 1, 0).exited(0, 20)},
			want: want{create: []string{"0/2"}, release: []string{"0/0"}}},
		{name: "or the Job", job: ix.condition(batchv1.JobFailureTarget, "True", "R", "M"), rules: rules, pods: []podBuilder{p(0).exited(51, 5).deleted(6), podOf(ix, 1, 0).ready()}, second: 60,
			want: want{del: []string{"1/0"}, release: []string{"0/0"}}},
		{name: "not when the Job has lost the index: it may come back", job: ix.with(func(j *batchv1.Job) { j.Spec.Completions = new(int32(1)) }), rules: rules, second: 60,
			pods: []podBuilder{p(0).ready(), podOf(ix, 2, 0).exited(51, 5).deleted(6)}, want: want{status: one, ledger: "-"}},
	})
}

// TestMatchesArePassedOn tests that a pod starts with the highest number that any pod of its index has.
func TestMatchesArePassedOn(t *testing.T) {
	b := indexed(3, 1).started().replaceFailed()
	rules := customRules{51: ignoring().upTo(2, v1alpha1.PerIndex, count), 52: ignoring().upTo(5, v1alpha1.PerIndex, count), 53: ignoring().upTo(9, v1alpha1.PerJob, count)}
	p := func(attempt int) podBuilder { return podOf(b, 0, attempt) }
	for name, test := range map[string]struct {
		pods []podBuilder
		want string
	}{
		"none":                        {[]podBuilder{p(0).exited(1, 5)}, ""},
		"another index":               {[]podBuilder{p(0).exited(1, 5), podOf(b, 1, 0).exited(51, 5)}, ""},
		"a budget of the Job":         {[]podBuilder{p(0).exited(53, 5)}, ""},
		"one":                         {[]podBuilder{p(0).exited(51, 5)}, once},
		"another":                     {[]podBuilder{p(1).matched(once).exited(51, 5)}, twice},
		"of another rule":             {[]podBuilder{p(1).matched(once).exited(52, 5)}, `{"gpu/code-51":1,"gpu/code-52":1}`},
		"not one beyond the budget":   {[]podBuilder{p(2).matched(twice).exited(51, 5)}, twice},
		"dismissed, and failed then":  {[]podBuilder{p(0).exited(51, 5), p(1).matched(once).exited(51, 8).released().deleted(6)}, once},
		"somebody took its finalizer": {[]podBuilder{p(0).exited(51, 5).released()}, once},
		"the last knows less":         {[]podBuilder{p(0).matched(once).exited(51, 5), p(1).exited(51, 6)}, twice},
		"forged":                      {[]podBuilder{p(0).matched(`{"a":-1}`).exited(51, 5)}, once},
		"forged, and not its last":    {[]podBuilder{p(0).exited(51, 5), p(1).matched("x").exited(1, 6)}, once},
	} {
		t.Run(name, func(t *testing.T) {
			o := seen(b.with(func(j *batchv1.Job) {
				metav1.SetMetaDataAnnotation(&j.Spec.Template.ObjectMeta, MatchesAnnotation, "of the template")
			}), 600, test.pods...)
			o.Judge = rules.judge
			created := planned(t, o).Create
			if len(created) != 1 {
				t.Fatalf("%v are created", podNames(created))
			}
			if got := created[0].Annotations[MatchesAnnotation]; got != test.want {
				t.Errorf("%s begins with %q, want %q", created[0].Name, got, test.want)
			}
		})
	}
}

// TestTooManyMatches tests that a pod has room for the matches of a limited number of rules. The budget of one more rule
// counts as used up.
func TestTooManyMatches(t *testing.T) {
	b := indexed(3, 1).started().replaceFailed()
	known := make([]string, maxBudgets)
	for i := range known {
		known[i] = fmt.Sprintf(`"gpu/code-%d":1`, 100+i)
	}
	rule := ignoring().upTo(2, v1alpha1.PerIndex, count)
	for code, failed := range map[int32]int32{51: 1, 100: 0} {
		o := seen(b, 600, podOf(b, 0, 1).matched("{"+strings.Join(known, ",")+"}").exited(code, 5))
		o.Judge = customRules{51: rule, 100: rule}.judge
		if p := planned(t, o); p.Write.Status.Failed != failed || len(p.Problems) != int(failed) {
			t.Errorf("code %d: %d failures count, problems are %v", code, p.Write.Status.Failed, p.Problems)
		}
	}
}

// TestForgedMatches tests that an annotation that no Plan could have written is a Problem, and counts as empty.
func TestForgedMatches(t *testing.T) {
	b := indexed(3, 1).started()
	for text, problems := range map[string]int{
		once: 0, "{}": 0, "null": 0, `{"a":1000000}`: 0, "": 1, "x": 1, "[]": 1, `{"a":0}`: 1, `{"a":-1}`: 1, `{"a":1000001}`: 1, `{"a":1.5}`: 1,
		`{"` + strings.Repeat("a", maxRuleKey+1) + `":1}`: 1,
	} {
		if got := planned(t, seen(b, 6, podOf(b, 0, 0).matched(text).ready())).Problems; len(got) != problems {
			t.Errorf("%.99s: problems are %v", text, got)
		}
	}
}
