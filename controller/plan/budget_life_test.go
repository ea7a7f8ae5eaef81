package plan

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// TestBudgetLives is TestLives with rules that have budgets. A model counts the matches: exactly as many as the budget
// allows have the rule's action, whatever crashes, lags, is suspended, scaled or deleted, and the decision on a pod does
// not change. No pod is created before the delay after the last failure is over.
func TestBudgetLives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := life{t, newWorld(t.Fatalf, drawJob(t))}
		l.settings = Settings{
			MaxHeld:      rapid.SampledFrom([]int{2, 100}).Draw(t, "MaxHeld"),
			MaxReleasing: rapid.SampledFrom([]int{2, 100}).Draw(t, "MaxReleasing"),
		}
		l.drawRules()
		for range rapid.IntRange(0, 80).Draw(t, "steps") {
			l.step()
		}
		l.settle()
	})
}

func (l life) drawRules() {
	rules := customRules{}
	for code := range rapid.Int32Range(1, 3).Draw(l.t, "rules") {
		rules[51+code] = drawRule(l.t)
	}
	l.volatile = rapid.Bool().Draw(l.t, "volatile")
	l.rules = newRuleModel(ptr.Deref(l.job.Spec.CompletionMode, "") == batchv1.IndexedCompletion, rules)
}

func drawRule(t *rapid.T) customRule {
	action := rapid.SampledFrom([]batchv1.PodFailurePolicyAction{
		batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount,
	}).Draw(t, "action")
	then := rapid.SampledFrom([]batchv1.PodFailurePolicyAction{
		batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex,
		batchv1.PodFailurePolicyActionFailJob,
	}).Draw(t, "then")
	per := rapid.SampledFrom([]v1alpha1.BudgetScope{v1alpha1.PerJob, v1alpha1.PerIndex}).Draw(t, "per")
	rule := customRule{action: action}
	if rapid.Bool().Draw(t, "retry") {
		rule = rule.after(time.Duration(rapid.SampledFrom([]int{0, 300, 2000}).Draw(t, "delay")) * time.Second)
	}
	return rule.upTo(rapid.Int32Range(1, 4).Draw(t, "limit"), per, then)
}
