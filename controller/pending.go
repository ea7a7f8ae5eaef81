package controller

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

// pendingLoop ends pods that do not start: where a binding says so, a pod in phase Pending that a rule on Pending matches is
// given a condition that says why, and then it is deleted. What that means for its Job is decided when the pod has ended: by
// runtime.Program, which reads the rule from the condition, or by the podFailurePolicy of a Job that others run.
//
// Such rules are about time, so all pods that wait are looked at now and then, oldest first, and nothing wakes anybody in
// between. Each call is bound to the state of the pod that was looked at. A pod that changes meanwhile, because it starts, is
// not deleted, and is looked at again; it loses the condition if it runs. After a crash between the two calls the next look
// goes on where the last one ended. So there is nothing to remember but what was told.
type pendingLoop struct {
	pendingOptions

	// memories are of pods that something was done with at the last look, or was to be.
	memories map[types.UID]pendingMemory
	// left are the pods for which the last look had no time.
	left map[types.UID]bool
}

// pendingMemory is what was done with a pod before.
type pendingMemory struct {
	told   map[string]bool // reasons of the events about it: each is told once
	failed bool            // the last call for it did
}

// pendingOptions are what the loop works with. All are needed.
type pendingOptions struct {
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

// newPending returns a loop that has not begun.
func newPending(o pendingOptions) *pendingLoop { return &pendingLoop{pendingOptions: o} }

// DefaultPendingPeriod is the time between two looks at pods that do not start.
const DefaultPendingPeriod = 10 * time.Second

const (
	// maxEnded is how many pods a second may be deleted, on average. When a scheduler or a registry is down, all pods wait;
	// this leaves people time to do something about a rule that means well.
	maxEnded = 10
	// maxPendingFailures is after how many calls in a row that failed a look is over.
	maxPendingFailures = 5
)

// run looks at pods until ctx is done. The caches are filled.
func (p *pendingLoop) run(ctx context.Context) {
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
func (p *pendingLoop) look(ctx context.Context) {
	l := pendingLook{pendingLoop: p, jobs: map[plan.Owner]*pendingJob{}, memories: map[types.UID]pendingMemory{}}
	l.rest = max(1, int(maxEnded*p.Period.Seconds()))
	left := l.decideAll(ctx, p.Caches.Starting())
	if ctx.Err() != nil {
		return // verdicts may have been cut short
	}
	slices.SortFunc(l.cases, func(a, b *pendingCase) int {
		return cmp.Or(a.last()-b.last(), a.pod.CreationTimestamp.Compare(b.pod.CreationTimestamp.Time),
			cmp.Compare(a.pod.Namespace, b.pod.Namespace), cmp.Compare(a.pod.Name, b.pod.Name))
	})
	fair.InTurns(p.Clock, l.cases, func(c *pendingCase) string { return c.pod.Namespace }, func(c *pendingCase) bool {
		l.guard(ctx, c.pod, func(ctx context.Context) { l.carryOut(ctx, c) })
		return ctx.Err() == nil && l.rest > 0 && l.failures < maxPendingFailures
	})
	p.memories, p.left = l.memories, left
}

// decideAll looks at pods for as long as a period takes, and returns those for which there was no time. They come first the next
// time.
func (l *pendingLook) decideAll(ctx context.Context, pods []*corev1.Pod) map[types.UID]bool {
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
		if memory, found := l.pendingLoop.memories[pod.UID]; found {
			l.memories[pod.UID] = memory
		}
	}
	return left
}

// guard keeps a defect that one pod meets from the others.
func (l *pendingLook) guard(ctx context.Context, pod *corev1.Pod, do func(context.Context)) {
	err := l.Metrics.Guard(ctx, metrics.EndingPendingPod, func() error {
		do(fair.InNamespace(ctx, pod.Namespace))
		return nil
	})
	if job := l.Caches.JobOf(pod); metrics.Panicked(err) && job != nil {
		c := &pendingCase{pendingMemory: l.pendingLoop.memories[pod.UID], job: job, pod: pod}
		l.tellOnce(c, recorder.ReasonPanic, func() { l.event(c, corev1.EventTypeWarning, recorder.ReasonPanic, recorder.PanicNote(err)) })
	}
}

// pendingLook is a look under way.
type pendingLook struct {
	*pendingLoop

	jobs     map[plan.Owner]*pendingJob
	cases    []*pendingCase
	memories map[types.UID]pendingMemory // the next ones
	rest     int                         // how many pods may still be deleted
	failures int                         // calls in a row that failed
}

// pendingJob is what is the same for all pods of a Job.
type pendingJob struct {
	*batchv1.Job // nil when its pods are left alone

	selection binding.Selection
	ends      bool
	attempts  map[types.UID]int64
}

// pendingCase is a pod that something is to be done with.
type pendingCase struct {
	binding.PendingDecision
	pendingMemory

	job *batchv1.Job
	pod *corev1.Pod
}

func (c *pendingCase) last() int {
	if c.failed {
		return 1
	}
	return 0
}

// decide looks at one pod.
func (l *pendingLook) decide(ctx context.Context, pod *corev1.Pod) {
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
	memory, found := l.pendingLoop.memories[pod.UID]
	if found {
		l.memories[pod.UID] = memory
	}
	l.cases = append(l.cases, &pendingCase{d, memory, j.Job, pod})
}

// jobOf is the Job of a pod, of which the policies in force and the numbers of attempts are found out once.
func (l *pendingLook) jobOf(ctx context.Context, pod *corev1.Pod) *pendingJob {
	owner, _ := plan.OwnerOf(pod) // byStart has no others
	if known := l.jobs[owner]; known != nil {
		return known
	}
	j := &pendingJob{}
	l.jobs[owner] = j
	job := l.Caches.JobOf(pod)
	if job == nil || !binding.AtWork(job) || !l.Others && !plan.Managed(job) {
		return j
	}
	j.Job = job
	j.selection, _ = l.Selection(ctx, job) // which policies are in force will be known at the next look
	if j.ends = j.selection.Ends(); j.ends {
		j.attempts = l.attempts(job)
	}
	return j
}

// attempts are the numbers of the attempts that the Job's pods are.
func (p *pendingLoop) attempts(job *batchv1.Job) map[types.UID]int64 {
	pods := p.Caches.PodsOf(plan.OwnerFor(job))
	numbers := make(map[types.UID]int64, len(pods))
	for i, number := range plan.Attempts(job, pods) {
		numbers[pods[i].UID] = number
	}
	return numbers
}
