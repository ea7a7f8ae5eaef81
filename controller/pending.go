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
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// pendingPods ends pods that do not start: where a binding says so, a pod in phase Pending that a rule on Pending matches is
// given a condition that says why, and then it is deleted. What that means for its Job is decided when the pod has ended: by
// runtime.Program, which reads the rule from the condition, or by the podFailurePolicy of a Job that others run.
//
// Such rules are about time, so all pods that wait are looked at now and then, oldest first, and nothing wakes anybody in
// between. Each call is bound to the state of the pod that was looked at. A pod that changes meanwhile, because it starts, is
// not deleted, and is looked at again; it loses the condition if it runs. After a crash between the two calls the next look
// goes on where the last one ended. So there is nothing to remember but what was told.
type pendingPods struct {
	client    kubernetes.Interface
	jobs      cache.Indexer
	pods      cache.Indexer // with the indexes byJob and byStart
	others    bool          // whether pods of Jobs that others run are of interest
	tells     bool          // whether it only tells what it would do
	selection func(context.Context, *batchv1.Job) binding.Selection
	recorder  events.EventRecorder
	metrics   *Metrics
	clock     clock.WithTicker
	period    time.Duration
	caching   *caching

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

// newPendingPods ends pods by the client. The recorder tells of it.
func newPendingPods(o Options, client kubernetes.Interface, jobs, pods cache.Indexer, policies *registry, recorder events.EventRecorder) *pendingPods {
	return &pendingPods{
		client: client, jobs: jobs, pods: pods, others: o.Observe, tells: o.ObserveOnly, recorder: recorder, metrics: o.Metrics,
		clock: o.Clock, period: o.PendingPeriod, caching: policies.caching,
		selection: func(ctx context.Context, job *batchv1.Job) binding.Selection {
			if !policies.knows(job.Namespace) {
				return binding.Selection{}
			}
			selection, _ := policies.selection(ctx, job) // which policies are in force will be known at the next look
			return selection
		},
	}
}

// DefaultPendingPeriod is the time between two looks at pods that do not start.
const DefaultPendingPeriod = 10 * time.Second

const (
	// maxEnded is how many pods a second may be deleted, on average. When a scheduler or a registry is down, all pods wait;
	// this leaves people time to do something about a rule that means well.
	maxEnded = 10
	// maxPendingFailures is after how many calls in a row that failed a look is over.
	maxPendingFailures = 5
)

// byStart is the index of pods that wait to start, and of those that have started and are still marked as ones that do not.
// They all have one value.
const byStart = "start"

func indexStart(object any) ([]string, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok || pod.DeletionTimestamp != nil {
		return nil, nil
	}
	if _, ok := plan.OwnerOf(pod); !ok {
		return nil, nil
	}
	started := pod.Status.Phase == corev1.PodRunning && runtime.FailingToStart(pod) != nil
	if pod.Status.Phase == corev1.PodPending || started {
		return []string{byStart}, nil
	}
	return nil, nil
}

// run looks at pods until ctx is done. The caches are filled.
func (p *pendingPods) run(ctx context.Context) {
	ticker := p.clock.NewTicker(p.period)
	defer ticker.Stop()
	for {
		_ = p.metrics.guard(ctx, endingPendingPod, func() error { // it is in the log
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
func (p *pendingPods) look(ctx context.Context) {
	objects, _ := p.pods.ByIndex(byStart, byStart) // the index is there
	l := pendingLook{pendingPods: p, jobs: map[plan.Owner]*pendingJob{}, memories: map[types.UID]pendingMemory{}}
	l.rest = max(1, int(maxEnded*p.period.Seconds()))
	left := l.decideAll(ctx, objects)
	if ctx.Err() != nil {
		return // verdicts may have been cut short
	}
	slices.SortFunc(l.cases, func(a, b *pendingCase) int {
		return cmp.Or(a.last()-b.last(), a.pod.CreationTimestamp.Compare(b.pod.CreationTimestamp.Time),
			cmp.Compare(a.pod.Namespace, b.pod.Namespace), cmp.Compare(a.pod.Name, b.pod.Name))
	})
	takeTurns(p.clock, l.cases, func(c *pendingCase) string { return c.pod.Namespace }, func(c *pendingCase) bool {
		l.guard(ctx, c.pod, func(ctx context.Context) { l.carryOut(ctx, c) })
		return ctx.Err() == nil && l.rest > 0 && l.failures < maxPendingFailures
	})
	p.memories, p.left = l.memories, left
}

// decideAll looks at pods for as long as a period takes, and returns those for which there was no time. They come first the next
// time.
func (l *pendingLook) decideAll(ctx context.Context, objects []any) map[types.UID]bool {
	var first, pods []*corev1.Pod
	for _, object := range objects {
		if pod, ok := object.(*corev1.Pod); ok && l.pendingPods.left[pod.UID] {
			first = append(first, pod)
		} else if ok {
			pods = append(pods, pod)
		}
	}
	start := l.clock.Now()
	rest := takeTurns(l.clock, append(first, pods...), func(pod *corev1.Pod) string { return pod.Namespace }, func(pod *corev1.Pod) bool {
		l.guard(ctx, pod, func(ctx context.Context) { l.decide(ctx, pod) })
		return ctx.Err() == nil && l.clock.Since(start) < l.period
	})
	left := make(map[types.UID]bool, len(rest))
	for _, pod := range rest {
		left[pod.UID] = true
		if memory, found := l.pendingPods.memories[pod.UID]; found {
			l.memories[pod.UID] = memory
		}
	}
	return left
}

// guard keeps a defect that one pod meets from the others.
func (l *pendingLook) guard(ctx context.Context, pod *corev1.Pod, do func(context.Context)) {
	err := l.metrics.guard(ctx, endingPendingPod, func() error {
		do(inNamespace(ctx, pod.Namespace))
		return nil
	})
	if job := cachedJob(l.pendingPods.jobs, pod); panicked(err) && job != nil {
		c := &pendingCase{pendingMemory: l.pendingPods.memories[pod.UID], job: job, pod: pod}
		l.tellOnce(c, reasonPanic, func() { l.event(c, corev1.EventTypeWarning, reasonPanic, panicNote(err)) })
	}
}

// pendingLook is a look under way.
type pendingLook struct {
	*pendingPods

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
	if j.Job == nil || !j.ends && runtime.FailingToStart(pod) == nil || l.caching.pods.lacks(pod) && !j.selection.Empty() {
		return // if it lacks something, until the next look
	}
	d := j.selection.DecidePending(ctx, input(pod, j.Job, j.attempts[pod.UID], l.clock.Now()))
	if l.tells && d.Step == binding.EndPending {
		d.Step = binding.AuditPending
	}
	if d.Step == binding.LeavePending || l.tells && d.Step == binding.WithdrawPending {
		return
	}
	memory, found := l.pendingPods.memories[pod.UID]
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
	job := cachedJob(l.pendingPods.jobs, pod)
	if job == nil || !binding.AtWork(job) || !l.others && !managed(job) {
		return j
	}
	j.Job, j.selection = job, l.selection(ctx, job)
	if j.ends = j.selection.Ends(); j.ends {
		j.attempts = l.attempts(job)
	}
	return j
}

// attempts are the numbers of the attempts that the Job's pods are.
func (p *pendingPods) attempts(job *batchv1.Job) map[types.UID]int64 {
	pods := podsOf(p.pods, plan.OwnerFor(job))
	numbers := make(map[types.UID]int64, len(pods))
	for i, number := range plan.Attempts(job, pods) {
		numbers[pods[i].UID] = number
	}
	return numbers
}
