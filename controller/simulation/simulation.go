package simulation

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/kube/kubeversion"
	"github.com/podverdict/podverdict/internal/kube/restart"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Options describe the simulation of a Job.
type Options struct {
	// Job must be valid; the API's defaults may be missing. It is not changed.
	Job *batchv1.Job
	// Program has all rules for the Job: those of its own podFailurePolicy and those of custom policies. It is nil
	// without rules.
	Program *runtime.Program
	// Selection has the rules on living pods. The zero Selection has none.
	Selection binding.Selection
	Script    Script
	// Kubernetes is the version of the cluster, which decides how containers restart in place; nil is the newest.
	Kubernetes *version.Version
	// Seed decides everything that the Script leaves to chance.
	Seed uint64
	// Until is the time since the Job's creation after which the simulation stops.
	Until time.Duration
	// Progress, if not nil, is called from time to time with the number of pods created since the last call.
	Progress func(pods int)
}

// maxHeld is the controller's setting MaxHeld. A low value makes Plans faster, because fewer pods exist. It does not
// change the Job's life.
const maxHeld = 16

// simulator is a Job, its pods, and the clock.
type simulator struct {
	Options
	parsedScript
	queue

	ctx    context.Context //nolint:containedctx // lives for one call of Run
	now    int64
	until  int64
	wake   int64 // time when the controller acts again, or 0
	job    *batchv1.Job
	gates  restart.Gates
	lives  []*life
	byName map[string]*life
	// pods has the pods known to Plans, and changed the names of pods that have changed since.
	pods    plan.Kept
	changed map[string]bool
	slots   map[int]*slot
	placed  int // number of pods that got a node
	left    int // number of pods that were not forgotten
	// quiet is true if pods have only started or restarted in place since the last Plan. The controller would only count
	// the ready pods, which the next Plan does.
	quiet bool
	known map[string]*node // by name; nodes not in it are ready
	// looks has the phases of living pods for which rules exist.
	looks map[corev1.PodPhase]bool
	// limited has the events, by pod UID, of failures that match a rule with a budget and are still undecided.
	limited map[types.UID]int
	// version counts changes, for resource versions and UIDs.
	version int
	result  Result
	// inspect is called after every step; for tests.
	inspect func(*simulator)
	// keepAll keeps even pods that no longer matter to the controller; for tests.
	keepAll bool
}

// slot is a completion index.
type slot struct {
	attempts int
	failed   bool
	failure  int64 // time when the last attempt failed
}

// Run simulates the Job until it has finished and everything is recorded, or until the time is over. It returns errors in
// the Script as a *ScriptError, and an error for a Job with more than 100,000 concurrent pods.
func Run(ctx context.Context, o Options) (*Result, error) {
	s, err := newSimulator(ctx, o)
	if err != nil {
		return nil, err
	}
	return s.run()
}

func newSimulator(ctx context.Context, o Options) (*simulator, error) {
	job := created(o.Job)
	if pods := min(*job.Spec.Parallelism, ptr.Deref(job.Spec.Completions, math.MaxInt32)); pods > maxSize {
		return nil, errTooLarge(pods)
	}
	r := reader{job: job}
	read := r.read(o.Script)
	if len(r.errors) > 0 {
		return nil, &ScriptError{r.errors}
	}
	s := &simulator{
		Options: o, parsedScript: read, ctx: ctx, until: int64(o.Until / time.Second), job: job,
		byName: map[string]*life{}, changed: map[string]bool{}, slots: map[int]*slot{}, known: map[string]*node{}, limited: map[types.UID]int{}, version: 1,
		looks:  map[corev1.PodPhase]bool{},
		gates:  restart.GatesOf(cmp.Or(o.Kubernetes, kubeversion.Last)),
		result: Result{Namespace: job.Namespace, Name: job.Name, Unit: unitOf(job), Summary: Summary{Verdicts: map[string]int{}}},
	}
	for _, phase := range v1alpha1.LivingPhases {
		s.looks[phase] = o.Selection.HasRulesOn(phase)
	}
	for i, change := range s.interventions {
		random := rand.New(rand.NewPCG(o.Seed, ^uint64(i))) //nolint:gosec // results must be repeatable
		s.add(change.at.draw(random), func() { s.intervene(change) })
	}
	return s, nil
}

func (s *simulator) run() (*Result, error) {
	reported := 0
	for {
		if s.Progress != nil {
			s.Progress(s.result.Summary.Pods - reported)
			reported = s.result.Summary.Pods
		}
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.control(); err != nil {
			return nil, err
		}
		s.quiet = true
		if s.inspect != nil {
			s.inspect(s)
		}
		if s.finished() || !s.advance() {
			return s.conclude()
		}
	}
}

// advance moves the clock to the next event that the controller reacts to.
func (s *simulator) advance() bool {
	at, found := s.next()
	for found && at <= s.until {
		for s.now = at; found && at == s.now; at, found = s.next() {
			s.take()()
		}
		s.sweep()
		if !s.quiet {
			return true
		}
	}
	s.now = s.until
	return false
}

// control lets the controller act until it has nothing more to do.
func (s *simulator) control() error {
	const enough = 100
	for range enough {
		p := s.plan()
		s.result.Summary.Plans++
		s.revise(p)
		if !s.apply(p) || s.canWait(p) {
			s.wakeAfter(p.LookAgain)
			s.forget()
			return nil
		}
	}
	return errRestless(s.job.Name, s.now)
}

// canWait reports whether the next Plan can wait for the next event, because the last one only wrote counters and
// released pods that nothing depends on.
func (s *simulator) canWait(p plan.Plan) bool {
	_, more := s.next()
	return more && !p.Urgent && len(p.Release)+len(p.Dismiss)+len(p.Delete)+len(p.Create) == 0
}

func (s *simulator) plan() plan.Plan {
	for name := range s.changed {
		if l := s.byName[name]; l != nil {
			s.pods.Set(name, l.pod)
		} else {
			s.pods.Set(name)
		}
	}
	clear(s.changed)
	o := plan.Observation{
		Job: s.job, Now: s.time().Time, Current: true,
		Settings: plan.Settings{MaxHeld: maxHeld, MaxCreate: maxSize}, ReadsAttempts: s.Selection.ReadsAttempts(),
	}
	if s.Program != nil {
		o.Judge = func(p *corev1.Pod, attempt int64, _ func() []cel.Attempt) runtime.Verdict {
			return s.judge(p, attempt)
		}
	}
	return s.pods.Next(o)
}

// judge returns the verdict on a failed pod, given its attempt number at its slot, from 1.
func (s *simulator) judge(p *corev1.Pod, attempt int64) runtime.Verdict {
	if s.Program == nil {
		return runtime.Unmatched(p)
	}
	return s.Program.Judge(s.ctx, s.input(p, attempt))
}

// wakeAfter schedules another Plan even without other events.
func (s *simulator) wakeAfter(delay time.Duration) {
	if delay <= 0 {
		return
	}
	at := s.now + int64((delay+time.Second-1)/time.Second)
	if s.wake > s.now && s.wake <= at {
		return
	}
	s.wake = at
	s.add(at, func() { s.quiet = false })
}

func (s *simulator) finished() bool {
	return s.condition(batchv1.JobComplete) != nil || s.condition(batchv1.JobFailed) != nil
}

// condition returns a condition if it is true, or nil.
func (s *simulator) condition(kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range s.job.Status.Conditions {
		if c := &s.job.Status.Conditions[i]; c.Type == kind && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

// conclude computes the totals.
func (s *simulator) conclude() (*Result, error) {
	if err := s.control(); err != nil {
		return nil, err
	}
	r := &s.result
	r.Seconds, r.Status, r.Indexes, r.Outcome, r.Message = s.now, s.job.Status, len(s.slots), Unfinished, s.endless()
	for kind, outcome := range map[batchv1.JobConditionType]string{batchv1.JobComplete: Complete, batchv1.JobFailed: Failed} {
		if c := s.condition(kind); c != nil {
			r.Outcome, r.Reason, r.Message = outcome, c.Reason, c.Message
		}
	}
	for _, l := range s.unended() {
		r.Summary.PodSeconds += s.ran(l)
	}
	return r, nil
}

// unended returns the pods whose attempts have not ended.
func (s *simulator) unended() []*life {
	return slices.DeleteFunc(slices.Clone(s.lives), func(l *life) bool { return l.ended >= 0 })
}
