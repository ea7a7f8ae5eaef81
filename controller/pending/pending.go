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

	"github.com/podverdict/podverdict/controller/caches"
	"github.com/podverdict/podverdict/controller/fair"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/controller/recorder"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Loop ends pods that do not start. Make one with New, and run it once.
type Loop struct {
	Options

	// memories are of pods that something was done with at the last look, or was to be.
	memories map[types.UID]memory
	// left are the pods for which the last look had no time.
	left map[types.UID]bool
}

// memory is what was done with a pod before.
type memory struct {
	recorded map[string]bool // reasons of the events about it: each is recorded once
	failed   bool            // the last call for it did
}

// Options are what the loop works with. All are needed.
type Options struct {
	// Client writes the condition and deletes pods.
	Client kubernetes.Interface
	Caches *caches.Caches
	// Others is true when pods of Jobs that others run are of interest.
	Others bool
	// ObserveOnly is true when it only records what it would do.
	ObserveOnly bool
	// Selection returns the custom policies in force for a Job. The error is that this is not known yet.
	Selection func(context.Context, *batchv1.Job) (binding.Selection, error)
	Recorder  events.EventRecorder
	Metrics   *metrics.Metrics
	Clock     clock.WithTicker
	// Period is the time between two looks.
	Period time.Duration
}

// New returns a loop that has not begun.
func New(o Options) *Loop { return &Loop{Options: o} }

// DefaultPeriod is the time between two looks at pods that do not start.
const DefaultPeriod = 10 * time.Second

const (
	// maxEnded is how many pods a second may be deleted, on average. When a scheduler or a registry is down, all pods wait;
	// this leaves people time to do something about a rule that means well.
	maxEnded = 10
	// maxFailures is after how many calls in a row that failed a look is over.
	maxFailures = 5
)

// Run looks at pods until ctx is done. The caches are filled.
func (p *Loop) Run(ctx context.Context) {
	ticker := p.Clock.NewTicker(p.Period)
	defer ticker.Stop()
	for {
		_ = p.Metrics.Guard(ctx, metrics.EndingPendingPod, func() error { // it is in the log
			p.look(ctx)
			return nil
		})
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

// look decides on all pods that wait, and then does what is to be done. Namespaces take turns at both. In a namespace the oldest
// comes first, but those for which calls have failed last come last, so that they keep nobody waiting.
func (p *Loop) look(ctx context.Context) {
	l := look{Loop: p, jobs: map[plan.Owner]*waitingJob{}, memories: map[types.UID]memory{}}
	l.rest = max(1, int(maxEnded*p.Period.Seconds()))
	left := l.decideAll(ctx, p.Caches.Starting())
	if ctx.Err() != nil {
		return // verdicts may have been cut short
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

// decideAll looks at pods for as long as a period takes, and returns those for which there was no time. They come first the next
// time.
func (l *look) decideAll(ctx context.Context, pods []*corev1.Pod) map[types.UID]bool {
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

// guard keeps a defect that one pod meets from the others.
func (l *look) guard(ctx context.Context, pod *corev1.Pod, do func(context.Context)) {
	err := l.Metrics.Guard(ctx, metrics.EndingPendingPod, func() error {
		do(fair.InNamespace(ctx, pod.Namespace))
		return nil
	})
	if job := l.Caches.JobOf(pod); metrics.Panicked(err) && job != nil {
		c := &task{memory: l.Loop.memories[pod.UID], job: job, pod: pod}
		l.once(c, recorder.ReasonPanic, func() { l.event(c, corev1.EventTypeWarning, recorder.ReasonPanic, recorder.PanicNote(err)) })
	}
}

// look is a look under way.
type look struct {
	*Loop

	jobs     map[plan.Owner]*waitingJob
	cases    []*task
	memories map[types.UID]memory // the next ones
	rest     int                  // how many pods may still be deleted
	failures int                  // calls in a row that failed
}

// waitingJob is what is the same for all pods of a Job.
type waitingJob struct {
	*batchv1.Job // nil when its pods are left alone

	selection binding.Selection
	ends      bool
	attempts  map[types.UID]int64
}

// task is a pod that something is to be done with.
type task struct {
	binding.PendingDecision
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

// decide looks at one pod.
func (l *look) decide(ctx context.Context, pod *corev1.Pod) {
	j := l.jobOf(ctx, pod)
	if j.Job == nil || !j.ends && runtime.FailingToStart(pod) == nil || l.Caches.LacksPod(pod) && !j.selection.Empty() {
		return // if it lacks something, until the next look
	}
	d := j.selection.DecidePending(ctx, caches.Input(pod, j.Job, j.attempts[pod.UID], l.Clock.Now()))
	if l.ObserveOnly && d.Step == binding.EndPending {
		d.Step = binding.AuditPending
	}
	if d.Step == binding.LeavePending || l.ObserveOnly && d.Step == binding.WithdrawPending {
		return
	}
	memory, found := l.Loop.memories[pod.UID]
	if found {
		l.memories[pod.UID] = memory
	}
	l.cases = append(l.cases, &task{d, memory, j.Job, pod})
}

// jobOf returns the Job of a pod, of which the policies in force and the numbers of attempts are found out once.
func (l *look) jobOf(ctx context.Context, pod *corev1.Pod) *waitingJob {
	owner, _ := plan.OwnerOf(pod) // byStart has no others
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
	j.selection, _ = l.Selection(ctx, job) // which policies are in force will be known at the next look
	if j.ends = j.selection.Ends(); j.ends {
		j.attempts = plan.AttemptsByUID(job, l.Caches.PodsOf(plan.OwnerFor(job)))
	}
	return j
}
