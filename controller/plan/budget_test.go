package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/runtime"
)

// budgets returns a ledger with matches of the rule on code 51, and the held pods.
func budgets(matches int, held ...podBuilder) string {
	return `{"budgets":{"gpu/code-51":` + budgetText(matches, held...) + `}}`
}

func budgetText(matches int, held ...podBuilder) string {
	text := fmt.Sprintf(`{"matches":%d`, matches)
	for i, p := range held {
		separator := ","
		if i == 0 {
			separator = `,"held":[`
		}
		text += separator + `"` + string(p.p.UID) + `"`
	}
	if len(held) > 0 {
		text += "]"
	}
	return text + "}"
}

// countedIn returns a ledger with a counted failure, and a series of failures with another one last.
func countedIn(counted podBuilder, failures int, last podBuilder, ledger string) string {
	return fmt.Sprintf(`{"releasing":[%q],"backoff":{"failures":%d,"last":%q,"at":[%q]},%s`,
		counted.p.UID, failures, FinishTime(last.p).Format(time.RFC3339), last.p.UID, ledger[1:])
}

func (b jobBuilder) spent(matches int, held ...podBuilder) jobBuilder {
	return b.ledger(budgets(matches, held...))
}

const (
	ignore    = batchv1.PodFailurePolicyActionIgnore
	count     = batchv1.PodFailurePolicyActionCount
	failIndex = batchv1.PodFailurePolicyActionFailIndex
	failJob   = batchv1.PodFailurePolicyActionFailJob
)

// TestBudgetOfJob tests the effect of a Job's budget on pods, and when it is written.
func TestBudgetOfJob(t *testing.T) {
	ni, ix := nonIndexed(9, 3).started().replaceFailed(), perIndex(9, 1, 9).started().replaceFailed()
	two := customRules{51: ignoring().upTo(2, v1alpha1.PerJob, count)}
	p := func(slot, second int) podBuilder { return podOf(ni, slot, 0).exited(51, second) }
	i := func(second int) podBuilder { return podOf(ix, 0, 0).exited(51, second) }
	runAll(t, []behaviour{
		{name: "a match is entered when it is seen", job: ni, rules: two, pods: []podBuilder{p(0, 5)}, second: 6,
			want: want{status: numbers(0, 0, 0), ledger: budgets(1, p(0, 5)), lookAgain: 9}},
		{name: "the first to finish are within", job: ni, rules: two, pods: []podBuilder{p(0, 7), p(1, 5), p(2, 6)}, second: 7,
			want: want{status: numbers(0, 0, 1), ledger: budgets(2, p(1, 5), p(2, 6)), lookAgain: 40}},
		{name: "pods that are gone have used it", job: ni.spent(2), rules: two, pods: []podBuilder{p(0, 5)}, second: 6,
			want: want{status: numbers(0, 0, 1), ledger: countedIn(p(0, 5), 1, p(0, 5), budgets(2)), lookAgain: 9}},
		{name: "those that are not held any more need no entry", job: ni.spent(1, p(0, 5)), rules: two, pods: []podBuilder{p(0, 5).released(), p(1, 6)}, second: 6,
			want: want{status: numbers(0, 0, 0), ledger: budgets(2, p(1, 6)), lookAgain: 20}},
		{name: "of an index, when there are none", job: ni.spent(1), pods: []podBuilder{p(0, 5), p(1, 6)}, second: 6,
			rules: customRules{51: ignoring().upTo(2, v1alpha1.PerIndex, count)},
			want:  want{status: numbers(0, 0, 1), ledger: budgets(2, p(0, 5)), lookAgain: 20}},
		{name: "a donor is replaced when the entry is stored", job: ix, rules: two, pods: []podBuilder{i(5)}, second: 60,
			want: want{status: numbers(0, 0, 0), ledger: budgets(1, i(5))}},
		{name: "and then at once", job: ix.spent(1, i(5)), rules: two, pods: []podBuilder{i(5)}, second: 60,
			want: want{create: []string{"0/1"}, status: numbers(0, 0, 0)}},
		{name: "FailIndex when it is used up", job: ix.spent(2), pods: []podBuilder{i(5)}, second: 60,
			rules: customRules{51: ignoring().upTo(2, v1alpha1.PerJob, failIndex)},
			want:  want{create: []string{"1/0"}, status: all(numbers(0, 0, 1), failedIndexes(new("0")))}},
		{name: "which does not use it either", job: ni, pods: []podBuilder{p(0, 5).name("a")}, second: 60,
			rules: customRules{51: customRule{action: failJob}.upTo(2, v1alpha1.PerJob, count)},
			want:  want{create: []string{"0/0", "1/0", "2/0"}, status: all(numbers(0, 0, 0), conditions()), ledger: "-"}},
	})
}

// TestEndAwaitsDecisions tests that the Job does not end before the matches within a budget are stored, because verdicts
// that have been reported must not change.
func TestEndAwaitsDecisions(t *testing.T) {
	b := nonIndexed(2, 2).started().replaceFailed().condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "DeadlineExceeded", "late")
	match := podOf(b, 0, 0).exited(51, 5)
	rules := customRules{51: ignoring().upTo(2, v1alpha1.PerJob, count)}
	runAll(t, []behaviour{
		{name: "not stored", job: b, rules: rules, pods: []podBuilder{match}, want: want{status: conditions("FailureTarget/DeadlineExceeded"), ledger: budgets(1, match)}},
		{name: "stored", job: b.spent(1, match), rules: rules, pods: []podBuilder{match},
			want: want{status: conditions("FailureTarget/DeadlineExceeded", "Failed/DeadlineExceeded"), ledger: "-", events: []string{"DeadlineExceeded", "JobFinish"}}},
	})
}

// TestBudgetWaitsForRoom tests that a failure waits if the ledger has no room for another entry: its slot is not retried,
// and other pods are released to make room.
func TestBudgetWaitsForRoom(t *testing.T) {
	b := nonIndexed(9, 3).started().replaceFailed()
	first, second := podOf(b, 0, 0).exited(51, 5), podOf(b, 1, 0).exited(51, 6).deleted(7)
	o := seen(b.spent(1, first), 60, first, second)
	o.Judge, o.Settings.MaxReleasing = customRules{51: counting().upTo(9, v1alpha1.PerJob, ignore)}.judge, 1
	p := planned(t, o)
	if failed := p.Write.Status.Failed; failed != 1 || len(p.Release) > 0 {
		t.Errorf("%d failures count, %v are released", failed, podNames(p.Release))
	}
	if got := slotsAndAttempts(o.Job, p.Create); !slices.Equal(got, []string{"0/1", "2/0", "3/0"}) {
		t.Errorf("%v are created", got)
	}
	if !p.Undecided[second.p.UID] || p.Undecided[first.p.UID] {
		t.Errorf("undecided are %v", p.Undecided)
	}
	o.Job = p.Write // records the inputs of the back-off, so that the pod is released
	if got := slotsAndAttempts(o.Job, planned(t, o).Release); !slices.Equal(got, []string{"0/0"}) {
		t.Errorf("%v are released", got)
	}
	first.released()
	o.Pods[0] = first.p
	p = planned(t, o)
	if got := ledgerOf(o.Job, p); !strings.Contains(got, budgetText(2, second)) {
		t.Errorf("with room again the ledger is %s", got)
	}
	o.Job.DeletionTimestamp = new(at(60))
	o.Pods[0].Finalizers = []string{batchv1.JobTrackingFinalizer}
	if got := Next(o).Release; len(got) != 2 {
		t.Errorf("of a Job that is deleted %v are released", podNames(got))
	}
}

// TestToldDecisions tests that a Plan reports used-up budgets once they are certain.
func TestToldDecisions(t *testing.T) {
	b := nonIndexed(9, 2).started().replaceFailed()
	first, second, other := podOf(b, 0, 0).exited(51, 5), podOf(b, 1, 0).exited(51, 6), podOf(b, 2, 0).exited(1, 6)
	o := seen(b, 6, first, second, other)
	o.Judge = customRules{51: ignoring().upTo(1, v1alpha1.PerJob, count)}.judge
	p := planned(t, o)
	if diff := cmp.Diff(map[types.UID]bool{first.p.UID: true, second.p.UID: true}, p.Undecided); diff != "" || len(p.UsedUp) > 0 {
		t.Errorf("undecided (-want +got):\n%s\nused up: %v", diff, p.UsedUp)
	}
	o.Job = p.Write
	p = planned(t, o)
	if len(p.Undecided) > 0 || !slices.Equal(slices.Collect(maps.Keys(p.UsedUp)), []types.UID{second.p.UID}) {
		t.Errorf("undecided are %v, used up %v", p.Undecided, p.UsedUp)
	}
	if v := p.UsedUp[second.p.UID]; !v.IsUsedUp() || v.Action != count {
		t.Errorf("the verdict is %v", v)
	}
}

// TestTooManyBudgets tests that the ledger has room for a number of rules. The budgets of rules that match later count as
// used up.
func TestTooManyBudgets(t *testing.T) {
	b, rules := nonIndexed(999, 999).started().replaceFailed(), customRules{}
	var pods []podBuilder
	for i := range maxBudgets + 2 {
		rules[int32(1000+i)] = ignoring().upTo(1, v1alpha1.PerJob, count)
		pods = append(pods, podOf(b, i, 0).exited(int32(1000+i), i))
	}
	o := seen(b, 200, pods...)
	o.Judge = rules.judge
	p := planned(t, o)
	if p.Write.Status.Failed != 2 || len(p.Problems) != 1 {
		t.Errorf("%d failures count, problems are %v", p.Write.Status.Failed, p.Problems)
	}
	o.Job = p.Write
	if p = planned(t, o); len(p.UsedUp) != 2 || len(p.Undecided) > 0 {
		t.Errorf("used up: %v, undecided: %v", p.UsedUp, p.Undecided)
	}
}

func TestRuleKey(t *testing.T) {
	key := func(policy, rule string) string {
		v := customRules{51: ignoring()}.judge(podOf(nonIndexed(1, 1), 0, 0).exited(51, 0).p, 1, nil)
		v.Policy, v.RuleName = policy, rule
		return ruleKey(v)
	}
	if got := key("gpu", "oom"); got != "gpu/oom" {
		t.Errorf("it is %q", got)
	}
	long := strings.Repeat("p", 250)
	a, b := key(long, "a"), key(long, "b")
	if a == b || len(a) != maxRuleKey || len(b) != maxRuleKey {
		t.Errorf("long ones are %q and %q", a, b)
	}
	if got := key(strings.Repeat("p", maxRuleKey-2), "r"); len(got) != maxRuleKey || strings.Contains(got, "~") {
		t.Errorf("the longest that is not cut is %q", got)
	}
}

// TestForgedBudgets tests that a ledger that no Plan could have written is a Problem, and counts as empty.
func TestForgedBudgets(t *testing.T) {
	b := nonIndexed(9, 1).started().replaceFailed()
	many := make([]string, maxBudgets+1)
	for i := range many {
		many[i] = fmt.Sprintf(`"gpu/%d":{"matches":1}`, i)
	}
	for text, problems := range map[string]int{
		budgets(1):                 0,
		budgets(1, podOf(b, 0, 0)): 0,
		budgets(0):                 1,
		budgets(-1):                1,
		budgets(1000000):           0,
		budgets(1000001):           1,
		budgets(1, podOf(b, 0, 0), podOf(b, 1, 0)):   1,
		`{"budgets":{"gpu/code-51":{"matches":{}}}}`: 1,
		`{"budgets":[]}`: 1,
		`{"budgets":{"` + strings.Repeat("x", maxRuleKey+1) + `":{"matches":1}}}`: 1,
		`{"budgets":{` + strings.Join(many, ",") + `}}`:                           1,
		`{"budgets":{` + strings.Join(many[1:], ",") + `}}`:                       0,
	} {
		if got := planned(t, seen(b.ledger(text), 6)).Problems; len(got) != problems {
			t.Errorf("%.99s: problems are %v", text, got)
		}
	}
}

// TestCustomRulesApply tests that with any custom rules, pods are replaced only when they have ended, and that each is
// judged with its own attempt number.
func TestCustomRulesApply(t *testing.T) {
	b := nonIndexed(5, 2).started()
	runAll(t, []behaviour{{name: "not before it has ended", job: b, rules: customRules{51: ignoring()},
		pods: []podBuilder{podOf(b, 0, 0).running().deleted(1), podOf(b, 1, 0).ready()}, second: 60,
		want: want{status: all(numbers(1, 0, 0), terminating(1))}}})
	o := seen(b, 60, podOf(b, 0, 0).exited(1, 5), podOf(b, 1, 4).exited(1, 6), podOf(b, 2, 0).name("foreign").exited(1, 7))
	attempts := map[string]int64{}
	o.Judge = func(p *corev1.Pod, attempt int64, _ func() []cel.Attempt) runtime.Verdict {
		attempts[p.Name] = attempt
		if attempt != Attempt(o.Job, p) {
			t.Errorf("%s is attempt %d to Attempt", p.Name, Attempt(o.Job, p))
		}
		return runtime.Unmatched(p)
	}
	planned(t, o)
	if diff := cmp.Diff(map[string]int64{o.Pods[0].Name: 1, o.Pods[1].Name: 5, "foreign": 1}, attempts); diff != "" {
		t.Error(diff)
	}
}
