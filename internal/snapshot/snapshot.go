package snapshot

import (
	"cmp"
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
)

// Snapshot is a Job with its Pods and everything that verdicts on them depend on. It must not be changed. It computes verdicts once, at
// the first call that needs them, so it is not safe for concurrent use.
type Snapshot struct {
	// Job has the API's defaults. It is nil for Pods without a Job.
	Job *batchv1.Job
	// Pods have their attempt numbers and, once verdicts are computed, the earlier attempts that rules see.
	Pods  []Pod
	Rules Rules
	Now   time.Time
	Missing

	numbered  bool // whether this package computes Attempt and Earlier of the Pods
	decisions []Decision
	places    map[string]int // indexes of Pods by name
}

// Missing describes which facts about a Job's Pods are unknown.
type Missing struct {
	// Pods reports whether some of the Job's Pods were not read. Attempt numbers may then be too low, and no budget is counted.
	Pods bool
	// Order reports whether it is unknown which Pods are attempts of one another, for example without a Job. Then no budget is counted,
	// and no Pod has earlier attempts.
	Order bool
	// Decider reports whether the Pods have neither a Job nor rules that decide on them. Verdicts then have no action.
	Decider bool
}

// Decision holds the verdicts on a Pod.
type Decision struct {
	// Verdict is the effective verdict. Alone is the verdict that would apply if no budget were used up.
	Verdict, Alone runtime.Verdict
	// EarlierUnknown is the number of earlier attempts that rules would read but that are unknown.
	EarlierUnknown int
}

// noJob replaces the Job of Pods without one. It must not be changed.
var noJob batchv1.Job

// New returns the Snapshot of a Job, which may be nil. Unless all Pods have a number, New numbers them; the Snapshot then owns them.
func New(job *batchv1.Job, rules Rules, now time.Time, missing Missing, pods ...Pod) *Snapshot {
	s := &Snapshot{Job: job, Pods: pods, Rules: rules, Now: now, Missing: missing}
	for i := range pods {
		if pods[i].First {
			pods[i].Attempt = 1
		}
		s.numbered = s.numbered || pods[i].Attempt == 0
	}
	if s.numbered {
		for i, attempt := range plan.Attempts(s.planned(), s.objects()) {
			pods[i].Attempt = attempt
		}
	}
	return s
}

// planned returns the Job for functions of package plan.
func (s *Snapshot) planned() *batchv1.Job { return cmp.Or(s.Job, &noJob) }

func (s *Snapshot) objects() []*corev1.Pod {
	objects := make([]*corev1.Pod, len(s.Pods))
	for i := range s.Pods {
		objects[i] = s.Pods[i].Object
	}
	return objects
}

// Input returns what rules see of the Pod at an index.
func (s *Snapshot) Input(i int) runtime.Input { return s.Pods[i].Input(s.Job, s.Now) }

// Decisions returns the verdicts on all Pods, in order. The result must not be changed, and is invalid if the context is done.
func (s *Snapshot) Decisions(ctx context.Context) []Decision {
	if s.decisions != nil || len(s.Pods) == 0 {
		return s.decisions
	}
	s.decisions = make([]Decision, len(s.Pods))
	if s.remembers() {
		s.remember(ctx)
	}
	budgets := false
	for i := range s.Pods {
		d := &s.decisions[i]
		if !d.Alone.Terminal {
			d.Alone = s.judge(ctx, i)
		}
		d.Verdict = d.Alone
		budgets = budgets || d.Alone.Budget.Limit > 0
	}
	if budgets && !s.Missing.Pods && !s.Order {
		s.countBudgets(ctx)
	}
	return s.decisions
}

// remembers reports whether rules read earlier attempts that must be found among the Pods.
func (s *Snapshot) remembers() bool {
	return s.Rules.Selection.ReadsAttempts() && s.numbered && !s.Order
}

// remember finds the attempts before each Pod. Each earlier attempt names the rule that decided on it, so remember also judges the Pods,
// in the order in which they finished.
func (s *Snapshot) remember(ctx context.Context) {
	earlier := plan.EarlierAttempts(s.Observation(ctx))
	for i := range s.Pods {
		p := &s.Pods[i]
		p.Earlier = earlier[p.Object.Name]
		s.decisions[i].EarlierUnknown = max(0, min(int(p.Attempt)-1, cel.MaxAttempts)-len(p.Earlier))
	}
}

// judge returns the verdict on a Pod, assuming that no budget is used up.
func (s *Snapshot) judge(ctx context.Context, i int) runtime.Verdict {
	p := &s.Pods[i]
	switch {
	case p.Recorded != nil:
		return *p.Recorded
	case s.Rules.Effect.Acting == nil:
		return runtime.Unmatched(p.Object)
	}
	v := s.Rules.Effect.Acting.Judge(ctx, s.Input(i))
	if s.Decider {
		v.Action, v.Counted = "", false
	}
	return v
}

// countBudgets replaces the verdicts on Pods that matched a rule after its budget was used up, in the order in which Pods finished.
func (s *Snapshot) countBudgets(ctx context.Context) {
	usedUp := plan.UsedUp(s.Observation(ctx))
	for i := range s.Pods {
		p := &s.Pods[i]
		if verdict, found := usedUp[p.Object.Name]; found && !p.First && p.Recorded == nil {
			s.decisions[i].Verdict = verdict
		}
	}
}

// Observation returns what a controller would observe of the Job, with the verdicts on its Pods.
func (s *Snapshot) Observation(ctx context.Context) plan.Observation {
	if s.places == nil {
		s.places = make(map[string]int, len(s.Pods))
		for i := range s.Pods {
			s.places[s.Pods[i].Object.Name] = i
		}
	}
	judge := func(pod *corev1.Pod, attempt int64, earlier func() []cel.Attempt) runtime.Verdict {
		i := s.places[pod.Name]
		if known := s.decisions[i].Alone; known.Terminal {
			return known
		}
		return s.judgeObserved(ctx, s.Pods[i], pod, attempt, earlier())
	}
	return plan.Observation{Job: s.planned(), Pods: s.objects(), Judge: judge, Now: s.Now}
}

// judgeObserved returns the verdict on a Pod that package plan has numbered, and that may count as failed before it has ended.
func (s *Snapshot) judgeObserved(ctx context.Context, p Pod, as *corev1.Pod, attempt int64, earlier []cel.Attempt) runtime.Verdict {
	p.Object, p.Attempt, p.Earlier = as, attempt, earlier
	one := Snapshot{Job: s.Job, Pods: []Pod{p}, Rules: s.Rules, Now: s.Now}
	return one.judge(ctx, 0)
}
