package plan

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/runtime"
)

// customRule is the effect of a custom policy's rule.
type customRule struct {
	action batchv1.PodFailurePolicyAction
	budget runtime.Budget
	delay  *time.Duration
	mend   *v1alpha1.Retry
}

func ignoring() customRule { return customRule{action: batchv1.PodFailurePolicyActionIgnore} }

func counting() customRule { return customRule{action: batchv1.PodFailurePolicyActionCount} }

// upTo sets a budget, and the action after it is used up.
func (r customRule) upTo(limit int32, per v1alpha1.BudgetScope, then batchv1.PodFailurePolicyAction) customRule {
	r.budget = runtime.Budget{Limit: limit, Per: per, Then: then}
	return r
}

func (r customRule) after(delay time.Duration) customRule {
	r.delay = &delay
	return r
}

// customRules has rules by the exit code that they match. judge decides on other pods.
type customRules map[int32]customRule

func (r customRules) judge(p *corev1.Pod, _ int64, _ func() []cel.Attempt) runtime.Verdict {
	code := exitCodeOf(p)
	rule, found := r[code]
	if p.Status.Phase != corev1.PodFailed || !found {
		return judge(p)
	}
	v := runtime.MatchedExitCode(p, 0, rule.action, &p.Status.ContainerStatuses[0])
	v.Policy, v.RuleName, v.Budget, v.RetryDelay = "gpu", "code-"+strconv.Itoa(int(code)), rule.budget, rule.delay
	v.Retry = rule.mend
	return v
}

// exitCodeOf returns the exit code of a failed pod, or 0.
func exitCodeOf(p *corev1.Pod) int32 {
	if len(p.Status.ContainerStatuses) == 0 || p.Status.ContainerStatuses[0].State.Terminated == nil {
		return 0
	}
	return p.Status.ContainerStatuses[0].State.Terminated.ExitCode
}

// ruleModel counts the matches of rules with a budget independently, and checks the Plans against it. A nil model has no
// rules.
type ruleModel struct {
	customRules
	indexed bool

	matched map[types.UID]account // pods that have failed while they were held
	usedUp  map[types.UID]bool    // the Plans' decisions on them

	mends bool        // whether new pods are checked against the retries of rules
	ended []failedPod // pods that have failed while they were held

	failures    map[types.UID]*pod // observed failures
	lastSuccess time.Time          // last observed success
}

// account identifies the matches that share a budget.
type account struct {
	code int32
	slot int
}

func newRuleModel(indexed bool, rules customRules) *ruleModel {
	return &ruleModel{
		customRules: rules, indexed: indexed, matched: map[types.UID]account{}, usedUp: map[types.UID]bool{}, failures: map[types.UID]*pod{},
	}
}

func (m *ruleModel) codes() []int32 {
	if m == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(m.customRules))
}

func (m *ruleModel) matches(p *corev1.Pod) bool {
	return m != nil && m.customRules[exitCodeOf(p)].budget.Limit > 0
}

func (m *ruleModel) record(p *corev1.Pod, slot int) {
	a := account{exitCodeOf(p), slot}
	if !m.indexed || m.customRules[a.code].budget.Per == v1alpha1.PerJob {
		a.slot = none
	}
	m.matched[p.UID] = a
}

// check compares a Plan with earlier decisions, and with the budgets.
func (m *ruleModel) check(w *world, o Observation, p Plan) {
	if m == nil || w.hostile || Finished(o.Job) {
		return
	}
	m.checkRetries(w, o, p)
	for _, pod := range o.Pods {
		a, matched := m.matched[pod.UID]
		if !matched || pod.Status.Phase != corev1.PodFailed || !slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			continue
		}
		v, usedUp := p.UsedUp[pod.UID]
		if !usedUp {
			v = m.judge(pod, 1, nil)
		}
		if v.Counted || p.Undecided[pod.UID] {
			w.mayFail[pod.UID] = true
		}
		if p.Undecided[pod.UID] {
			continue
		}
		if v.Counted {
			w.mustFail[pod.UID] = true
		}
		if before, decided := m.usedUp[pod.UID]; decided && before != usedUp {
			w.fail("the decision on pod %s has changed: used up %v", pod.Name, usedUp)
		}
		m.usedUp[pod.UID] = usedUp
		if within, limit := m.within(a), m.customRules[a.code].budget.Limit; within > int(limit) {
			w.fail("%d pods are within a budget of %d: %+v", within, limit, a)
		}
	}
}

// checkRetries checks that new pods respect the delays after the last observed failures, of pods that may be gone.
func (m *ruleModel) checkRetries(w *world, o Observation, p Plan) {
	namer := newNamer(o.Job)
	for _, seen := range o.Pods {
		switch {
		case seen.Status.Phase == corev1.PodSucceeded && FinishTime(seen).After(m.lastSuccess):
			m.lastSuccess = FinishTime(seen)
		case seen.Status.Phase == corev1.PodFailed && slices.Contains(seen.Finalizers, batchv1.JobTrackingFinalizer):
			failed := &pod{Pod: seen, finish: FinishTime(seen), verdict: new(m.judge(seen, 1, nil))}
			failed.slot, failed.attempt, _ = namer.parse(seen.Name)
			m.failures[seen.UID] = failed
		}
	}
	if w.scaled {
		return // the failures of an index that the Job has lost are forgotten
	}
	for _, created := range p.Create {
		slot, _, _ := namer.parse(created.Name)
		if last := m.lastFailure(slot, o.Job.Spec.BackoffLimitPerIndex != nil); last != nil {
			if wait := m.wait(last); o.Now.Before(last.finish.Add(wait)) {
				w.fail("%s is created %v after the failure of %s, want %v", created.Name, o.Now.Sub(last.finish), last.Name, wait)
			}
		}
	}
}

// lastFailure returns the last failure of an index, or of the Job since its last success.
func (m *ruleModel) lastFailure(slot int, perIndex bool) *pod {
	var last *pod
	for _, p := range m.failures {
		if perIndex && p.slot != slot || !perIndex && !p.finish.After(m.lastSuccess) {
			continue
		}
		if last == nil || cmp.Or(last.finish.Compare(p.finish), cmp.Compare(last.attempt, p.attempt), cmp.Compare(m.wait(last), m.wait(p))) < 0 {
			last = p
		}
	}
	return last
}

// wait returns the minimum time after a failure.
func (m *ruleModel) wait(p *pod) time.Duration {
	if p.verdict.RetryDelay != nil {
		return *p.verdict.RetryDelay
	}
	return 10 * time.Second
}

// within returns the number of pods that got their rule's action.
func (m *ruleModel) within(a account) int {
	within := 0
	for uid, usedUp := range m.usedUp {
		if !usedUp && m.matched[uid] == a {
			within++
		}
	}
	return within
}

// conclude checks the whole life.
func (m *ruleModel) conclude(w *world) {
	if m == nil || w.hostile {
		return
	}
	matches := map[account]int{}
	for uid, a := range m.matched {
		matches[a]++
		if _, decided := m.usedUp[uid]; !decided {
			w.fail("nothing was decided of pod %s: %+v", uid, a)
		}
	}
	for a, number := range matches {
		if within, want := m.within(a), min(number, int(m.customRules[a.code].budget.Limit)); within != want {
			w.fail("%d of %d matches are within the budget, want %d: %+v", within, number, want, a)
		}
	}
}
