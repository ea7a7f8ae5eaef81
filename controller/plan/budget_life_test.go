package plan

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// TestRuleLives is TestLives with rules that have budgets and may have retries and read attempts. With any crashes, lag,
// suspension, scaling or deletions, exactly as many matches as the budget allows get the rule's action, the decision on a
// pod does not change, and no pod is created before the delay after the last failure is over. Each pod has the memory and
// avoids the nodes that the matches request, and carries the attempts before it, which are the attempts that the rules
// see.
func TestRuleLives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		job, mends := drawJob(t), rapid.Bool().Draw(t, "mends")
		if mends {
			job = job.memory("main=100Mi/1Gi other=/200Mi")
		}
		l := life{t, newWorld(t.Fatalf, job)}
		l.settings = Settings{
			MaxHeld:      rapid.SampledFrom([]int{2, 100}).Draw(t, "MaxHeld"),
			MaxReleasing: rapid.SampledFrom([]int{2, 100}).Draw(t, "MaxReleasing"),
		}
		l.drawRules()
		if l.rules.mends = mends; mends {
			for _, code := range l.rules.codes() {
				l.rules.customRules[code] = drawMend(t, l.rules.customRules[code])
			}
		}
		if rapid.Bool().Draw(t, "reads") {
			l.attempts = &attemptModel{failed: map[types.UID]pastAttempt{}, before: map[string]string{}}
		}
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
