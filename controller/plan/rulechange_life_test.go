package plan

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/runtime"
)

// TestRuleChangeLives is TestLives with custom rules that change, or disappear, after each crash, when verdicts are
// forgotten. Decisions on released pods are final: no Job fails because of such a pod, and it uses no budget of other
// rules. The number of matches of a Job never falls, and the next Plan accepts everything that a Plan writes.
func TestRuleChangeLives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := life{t, newWorld(t.Fatalf, drawJob(t))}
		l.settings = Settings{MaxHeld: rapid.SampledFrom([]int{2, 100}).Draw(t, "MaxHeld")} // with room to record each failure at once
		l.court = &court{
			own: l.job.Spec.PodFailurePolicy != nil, verdicts: map[types.UID]judgement{}, matched: map[string]map[types.UID]bool{},
			letGo: map[types.UID]bool{},
		}
		l.restart()
		for range rapid.IntRange(0, 80).Draw(t, "steps") {
			l.step()
		}
		l.settle()
	})
}

// restart forgets all verdicts, and changes the rules. Once they are gone they do not come back: pods that failed
// meanwhile are judged by the rules in force then.
func (l life) restart() {
	if l.court == nil {
		return
	}
	clear(l.court.verdicts)
	if l.court.rules != nil && len(l.court.rules) == 0 {
		return
	}
	first := l.court.rules == nil
	l.court.rules = customRules{}
	if !first && rapid.IntRange(0, 5).Draw(l.t, "gone") == 0 {
		return
	}
	for code := range rapid.Int32Range(1, 3).Draw(l.t, "rules") {
		r := drawRule(l.t)
		if rapid.IntRange(0, 3).Draw(l.t, "ends") == 0 {
			r = customRule{action: rapid.SampledFrom([]batchv1.PodFailurePolicyAction{failJob, failIndex}).Draw(l.t, "end")}
		}
		l.court.rules[51+code] = r
	}
}

// court gives the controller's verdicts, which it remembers until the controller crashes. A nil court gives none.
type court struct {
	own      bool // whether the Job has its own rules
	rules    customRules
	verdicts map[types.UID]judgement

	matched map[string]map[types.UID]bool // held pods that matched a rule with a budget, by rule
	letGo   map[types.UID]bool            // failed pods that are no longer held
}

type judgement struct {
	verdict runtime.Verdict
	custom  bool
}

func (c *court) codes() []int32 {
	if c == nil {
		return nil
	}
	return []int32{51, 52, 53}
}

func (c *court) volatile() bool {
	for _, j := range c.verdicts {
		if j.custom {
			return true
		}
	}
	return len(c.rules) > 0
}

// preside judges the pods of an Observation.
func (c *court) preside(o *Observation) {
	if c == nil {
		return
	}
	if o.Volatile = c.volatile(); o.Volatile || c.own {
		o.Judge, o.ReadsAttempts = c.judge, len(c.rules) > 1
	}
}

func (c *court) judge(p *corev1.Pod, attempt int64, earlier func() []cel.Attempt) runtime.Verdict {
	if known, found := c.verdicts[p.UID]; found {
		return known.verdict
	}
	j := judgement{runtime.Unmatched(p), len(c.rules) > 0}
	switch _, found := c.rules[exitCodeOf(p)]; {
	case found && p.Status.Phase == corev1.PodFailed:
		j.verdict = c.rules.judge(p, attempt, earlier)
	case c.own:
		j.verdict = judge(p)
	}
	c.verdicts[p.UID] = j
	return j.verdict
}

// check checks a Plan against earlier decisions.
func (c *court) check(w *world, o Observation, p Plan) {
	if c == nil {
		return
	}
	for _, pod := range o.Pods {
		j, judged := c.verdicts[pod.UID]
		if !judged || j.verdict.Budget.Limit == 0 || !slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			continue
		}
		key := ruleKey(j.verdict)
		if c.matched[key] == nil {
			c.matched[key] = map[types.UID]bool{}
		}
		c.matched[key][pod.UID] = true
	}
	for _, created := range p.Create {
		c.checkMatches(w, created)
	}
	if p.Write == nil || hasCondition(o.Job, batchv1.JobFailureTarget) {
		return
	}
	for _, pod := range o.Pods {
		goal := condition(p.Write.Status.Conditions, batchv1.JobFailureTarget)
		if goal != nil && c.letGo[pod.UID] && strings.Contains(goal.Message, pod.Name+" ") {
			w.fail("the Job fails because of %s, which was let go", pod.Name)
		}
	}
	before, after := ledger{}, ledger{}
	_ = json.Unmarshal([]byte(ledgerIn(&o.Job.Status)), &before)
	_ = json.Unmarshal([]byte(ledgerIn(&p.Write.Status)), &after)
	ends := Finished(p.Write)
	for key, b := range before.Budgets {
		if after.Budgets[key].Matches < b.Matches && !ends {
			w.fail("the number of matches of %s falls: %s", key, statusText(p.Write))
		}
	}
	for key, b := range after.Budgets {
		if int(b.Matches) > len(c.matched[key]) {
			w.fail("%d pods have matched %s: %s", len(c.matched[key]), key, statusText(p.Write))
		}
	}
}

// checkMatches checks the matches that a new pod starts with.
func (c *court) checkMatches(w *world, created *corev1.Pod) {
	begins := matches{}
	_ = json.Unmarshal([]byte(created.Annotations[MatchesAnnotation]), &begins)
	for key, number := range begins {
		if int(number) > len(c.matched[key]) {
			w.fail("%s begins with %d matches of %s, of %d", created.Name, number, key, len(c.matched[key]))
		}
	}
}
