package pending

import (
	"cmp"
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/caches"
	"github.com/podverdict/podverdict/controller/fair"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/controller/recorder"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Loop ends pods that do not start. Create it with New and call Run once.
type Loop struct {
	Options

	// memories holds the pods that the last pass acted on or tried to.
	memories map[types.UID]memory
	// left holds the pods for which the last pass had no time.
	left map[types.UID]bool
}

// memory is what earlier passes did with a pod.
type memory struct {
	recorded map[string]bool // reasons of the events written: each is written once
	failed   bool            // the last call for the pod failed
}

// Options configure a Loop. All are required.
type Options struct {
	// Client sets conditions and deletes pods.
	Client kubernetes.Interface
	Caches *caches.Caches
	// Others includes the pods of Jobs that other controllers run.
	Others bool
	// ObserveOnly makes the loop only record what it would do.
	ObserveOnly bool
	// Selection returns the custom policies in force for a Job, or an error if they are not known yet.
	Selection func(context.Context, *batchv1.Job) (binding.Selection, error)
	Recorder  events.EventRecorder
	Metrics   *metrics.Metrics
	Clock     clock.WithTicker
	// Period is the time between two passes.
	Period time.Duration
}

// New returns a loop that is not running yet.
func New(o Options) *Loop { return &Loop{Options: o} }

// DefaultPeriod is the default time between two passes over the pods that do not start.
const DefaultPeriod = 10 * time.Second

const (
	// maxEnded is how many pods a second may be deleted on average. When a scheduler or a registry is down, all pods wait;
	// the limit gives people time to fix a rule that would delete them all.
	maxEnded = 10
	// maxFailures is how many failed calls in a row end a pass.
	maxFailures = 5
)

// Run makes passes over the pods until ctx is done. The caches must be filled.
func (p *Loop) Run(ctx context.Context) {
	ticker := p.Clock.NewTicker(p.Period)
	defer ticker.Stop()
	for {
		_ = p.Metrics.Guard(ctx, metrics.EndingPendingPod, func() error { // Guard has logged it
			p.runOnce(ctx)
			return nil
		})
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

// runOnce decides on all waiting pods, and then carries the decisions out. Namespaces take turns at both. Within a namespace the
// oldest pod comes first, but those whose last call failed come last, so that they delay no others.
func (p *Loop) runOnce(ctx context.Context) {
	l := pass{Loop: p, jobs: map[plan.Owner]*waitingJob{}, memories: map[types.UID]memory{}}
	l.rest = max(1, int(maxEnded*p.Period.Seconds()))
	left := l.decideAll(ctx, p.Caches.Starting())
	if ctx.Err() != nil {
		return // evaluations may have been interrupted
	}
	slices.SortFunc(l.cases, func(a, b *task) int {
		return cmp.Or(a.last()-b.last(), a.pod.CreationTimestamp.Compare(b.pod.CreationTimestamp.Time),
			cmp.Compare(a.pod.Namespace, b.pod.Namespace), cmp.Compare(a.pod.Name, b.pod.Name))
	})
	fair.InTurns(p.Clock, l.cases, func(c *task) string { return c.pod.Namespace }, func(c *task) bool {
		l.guard(ctx, c.pod, func(ctx context.Context) { l.carryOut(ctx, c) })
		return ctx.Err() == nil && l.rest > 0 && l.failures < maxFailures
	})
	p.memories, p.left = l.memories, left
}

// decideAll decides on pods for at most one period. It returns the pods for which there was no time; the next pass starts
// with them.
func (l *pass) decideAll(ctx context.Context, pods []*corev1.Pod) map[types.UID]bool {
	var first, then []*corev1.Pod
	for _, pod := range pods {
		if l.left[pod.UID] {
			first = append(first, pod)
		} else {
			then = append(then, pod)
		}
	}
	start := l.Clock.Now()
	rest := fair.InTurns(l.Clock, append(first, then...), func(pod *corev1.Pod) string { return pod.Namespace }, func(pod *corev1.Pod) bool {
		l.guard(ctx, pod, func(ctx context.Context) { l.decide(ctx, pod) })
		return ctx.Err() == nil && l.Clock.Since(start) < l.Period
	})
	left := make(map[types.UID]bool, len(rest))
	for _, pod := range rest {
		left[pod.UID] = true
		if memory, found := l.Loop.memories[pod.UID]; found {
			l.memories[pod.UID] = memory
		}
	}
	return left
}

// guard recovers from a panic over one pod, so that the others are still handled.
func (l *pass) guard(ctx context.Context, pod *corev1.Pod, do func(context.Context)) {
	err := l.Metrics.Guard(ctx, metrics.EndingPendingPod, func() error {
		do(fair.InNamespace(ctx, pod.Namespace))
		return nil
	})
	if job := l.Caches.JobOf(pod); metrics.Panicked(err) && job != nil {
		c := &task{memory: l.Loop.memories[pod.UID], job: job, pod: pod}
		l.once(c, recorder.ReasonPanic, func() { l.event(c, corev1.EventTypeWarning, recorder.ReasonPanic, recorder.PanicNote(err)) })
	}
}

// pass is one pass over the pods.
type pass struct {
	*Loop

	jobs     map[plan.Owner]*waitingJob
	cases    []*task
	memories map[types.UID]memory // for the next pass
	rest     int                  // how many more pods may be deleted
	failures int                  // failed calls in a row
}

// waitingJob is what all pods of a Job have in common.
type waitingJob struct {
	*batchv1.Job // nil if its pods are left alone

	selection binding.Selection
	ends      bool
	attempts  map[types.UID]int64
}

// task is a pod to act on.
type task struct {
	binding.LivingDecision
	memory

	job *batchv1.Job
	pod *corev1.Pod
}

func (c *task) last() int {
	if c.failed {
		return 1
	}
	return 0
}

// decide decides on one pod.
func (l *pass) decide(ctx context.Context, pod *corev1.Pod) {
	j := l.jobOf(ctx, pod)
	if j.Job == nil || !j.ends && runtime.EndedBy(pod) == nil || l.Caches.LacksPod(pod) && !j.selection.Empty() {
		return // a pod that lacks fields waits for the next pass
	}
	d := j.selection.DecideLiving(ctx, caches.Input(pod, j.Job, j.attempts[pod.UID], l.Clock.Now()))
	if l.ObserveOnly && d.Step == binding.EndLiving {
		d.Step = binding.AuditLiving
	}
	if d.Step == binding.LeaveLiving || l.ObserveOnly && d.Step == binding.WithdrawLiving {
		return
	}
	memory, found := l.Loop.memories[pod.UID]
	if found {
		l.memories[pod.UID] = memory
	}
	l.cases = append(l.cases, &task{d, memory, j.Job, pod})
}

// jobOf returns the Job of a pod. It looks up the policies in force and the attempt numbers once per Job.
func (l *pass) jobOf(ctx context.Context, pod *corev1.Pod) *waitingJob {
	owner, _ := plan.OwnerOf(pod) // byStart has only pods of Jobs
	if known := l.jobs[owner]; known != nil {
		return known
	}
	j := &waitingJob{}
	l.jobs[owner] = j
	job := l.Caches.JobOf(pod)
	if job == nil || !binding.AtWork(job) || !l.Others && !plan.Managed(job) {
		return j
	}
	j.Job = job
	j.selection, _ = l.Selection(ctx, job) // on an error, the next pass asks again
	if j.ends = j.selection.HasRulesOn(v1alpha1.LivingPhases...); j.ends {
		j.attempts = plan.AttemptsByUID(job, l.Caches.PodsOf(plan.OwnerFor(job)))
	}
	return j
}
