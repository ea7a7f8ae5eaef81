package observing

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/internal/fair"
	"github.com/podverdict/podverdict/controller/internal/recorder"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Loop evaluates failed pods and records the verdicts. Create it with New and call Run once.
type Loop struct {
	Options

	attempts attempts
	instance string // the reporting instance in events

	// Pods wait in judging to be evaluated, which needs no API call, and then in events for their event to be written.
	judging, events fair.Queue[podKey]
	warned          *lru.Cache // UIDs of Jobs whose policy does not compile

	mu           sync.Mutex
	started      time.Time // when the first pod was seen, or Run was called
	observedPods map[types.UID]*observedPod
	room         *fair.Shares // slots for pods whose event waits
}

// Options configure a Loop. All are required.
type Options struct {
	// Client creates the events of verdicts. It should have its own rate limit, because events can wait, but calls for Jobs cannot.
	Client kubernetes.Interface
	Caches *caches.Caches
	// Others makes the loop evaluate the pods of Jobs that other controllers run.
	Others bool
	// Program compiles the podFailurePolicy of a Job. It returns nil if there is none.
	Program func(*batchv1.PodFailurePolicy) (*runtime.Program, error)
	// Selection returns the custom policies in effect for a Job, or an error if they are not known yet.
	Selection func(context.Context, *batchv1.Job) (binding.Selection, error)
	// Count counts the verdict of a custom rule, as enforced or audited.
	Count func(v runtime.Verdict, mode string)
	// History receives the verdict on each pod once, with the verdicts that do not take effect.
	History  func(pod *corev1.Pod, decided runtime.Verdict, would []binding.Would)
	Recorder events.EventRecorder // for errors
	Metrics  *metrics.Metrics
	Clock    clock.WithTicker
}

const (
	// eventLife is how long the API server keeps events by default (flag --event-ttl).
	eventLife = time.Hour
	// maxTries is the number of tries to write an event, over more than eight minutes.
	maxTries = 10
	// afterlife is how long a deleted pod is remembered, for Plans made from older lists.
	afterlife = 5 * time.Minute
	// maxWarned is the number of Jobs for which a warning is remembered. For other Jobs the call is repeated, but it creates no second
	// event.
	maxWarned = 1000
	// observers is the number of workers that evaluate pods, and of workers that write events.
	observers = 1
)

// New returns a loop that is not running yet. Call Run even if its context is already done: it shuts the queues down.
func New(o Options) *Loop {
	const shortest, longest = time.Second, 5 * time.Minute
	namespaceOf := func(key podKey) string { return key.namespace }
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	const longestHost = 63
	return &Loop{
		Options: o, attempts: newAttempts(o.Caches),
		instance:     v1alpha1.JobController + "-" + host[:min(len(host), longestHost)],
		judging:      fair.NewQueue(o.Clock, observers, shortest, longest, namespaceOf),
		events:       fair.NewQueue(o.Clock, observers, shortest, longest, namespaceOf),
		warned:       lru.New(maxWarned),
		observedPods: map[types.UID]*observedPod{}, room: fair.NewShares(recorder.MaxWaiting),
	}
}

// PodChanged must be called for every change of a pod in the caches. Before is nil for a new pod, and after for a deleted one.
func (o *Loop) PodChanged(before, after *corev1.Pod) {
	switch {
	case after != nil:
		o.enqueue(after)
	case before != nil:
		o.forget(before)
	}
}

// JobGone must be called for every deleted Job.
func (o *Loop) JobGone(job *batchv1.Job) { o.attempts.forget(job.UID) }

// enqueue queues a failed pod for evaluation.
func (o *Loop) enqueue(pod *corev1.Pod) {
	if _, owned := plan.OwnerOf(pod); !owned || pod.Status.Phase != corev1.PodFailed {
		return
	}
	job := o.Caches.JobOf(pod)
	if job != nil && !o.judges(job) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.start()
	if _, seen := o.observedPods[pod.UID]; !seen {
		o.observedPods[pod.UID] = &observedPod{pod: pod, job: job}
		o.judging.Add(keyOf(pod))
	}
}

// Judged must be called with the verdicts on pods of managed Jobs. Only the first call for a pod has an effect. Would are the verdicts that
// do not take effect.
func (o *Loop) Judged(pod *corev1.Pod, decided runtime.Verdict, would []binding.Would) {
	o.settle(pod, observedPod{verdict: decided, would: would, mode: metrics.ModeManage}, decided.Matched || decided.Err != nil || len(would) > 0)
}

// forget must be called for every deleted pod. Its event is still written.
func (o *Loop) forget(pod *corev1.Pod) {
	o.enqueue(pod) // the last state may be the first that shows the failure
	job := o.Caches.JobOf(pod)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch s := o.observedPods[pod.UID]; {
	case s == nil && job != nil && plan.Managed(job) && pod.Status.Phase == corev1.PodFailed: // a Plan under way may still evaluate it
		o.observedPods[pod.UID] = &observedPod{pod: pod, job: job, gone: true}
		o.judging.AddAfter(keyOf(pod), afterlife)
	case s != nil && !s.gone:
		s.gone = true
		if s.stage == done {
			o.close(keyOf(pod), s)
		}
	}
}

// Run works until ctx is done and all workers have ended. Events that have not been written by then are written after the next start, if
// the pods still exist.
func (o *Loop) Run(ctx context.Context) {
	o.mu.Lock()
	o.start()
	o.mu.Unlock()
	var running sync.WaitGroup
	running.Go(func() { o.work(ctx, o.judging, metrics.JudgingPod, o.judge) })
	running.Go(func() { o.work(ctx, o.events, metrics.WritingVerdictEvent, o.writeEvent) })
	running.Wait()
}

// start sets the time from which failed pods are counted as soon as they are evaluated.
func (o *Loop) start() {
	if o.started.IsZero() {
		o.started = o.Clock.Now()
	}
}

func (o *Loop) work(ctx context.Context, q fair.Queue[podKey], doing metrics.Activity, do func(context.Context, podKey) error) {
	fair.Work(ctx, q, observers, func(key podKey) {
		err := o.Metrics.Guard(ctx, doing, func() error { return do(fair.InNamespace(ctx, key.namespace), key) })
		if s, found := o.observedPod(key.uid); metrics.Panicked(err) && found && s.job != nil {
			o.Recorder.Eventf(s.job, nil, corev1.EventTypeWarning, recorder.ReasonPanic, recorder.Action, "%s", recorder.PanicNote(err))
		}
		switch {
		case err == nil:
			q.Forget(key)
		case ctx.Err() != nil:
		case q.NumRequeues(key) < maxTries-1:
			klog.FromContext(ctx).V(2).Info("Will try again to judge a pod or to write its event", "reason", err)
			q.AddRateLimited(key)
		default:
			q.Forget(key)
			o.giveUp(ctx, key, err)
		}
	})
}

// judge evaluates a pod of a Job run by another controller. It returns an error if the Job is not in the caches yet.
func (o *Loop) judge(ctx context.Context, key podKey) error {
	s, found := o.observedPod(key.uid)
	switch {
	case found && s.stage == done && s.gone:
		o.remove(key.uid, done)
		return nil
	case !found || s.stage != unjudged:
		return nil
	}
	if s.job == nil {
		if s.job = o.Caches.JobOf(s.pod); s.job == nil {
			return fmt.Errorf("the job of pod %s/%s is not there", s.pod.Namespace, s.pod.Name)
		}
	}
	if !o.judges(s.job) {
		o.remove(key.uid, unjudged)
		return nil
	}
	o.refresh(&s)
	return o.judgeFor(ctx, s)
}

// refresh replaces the pod and the Job with the cached ones if these have more of the fields that rules read.
func (o *Loop) refresh(s *observedPod) {
	if job := o.Caches.JobOf(s.pod); o.Caches.LacksJob(s.job) && job != nil {
		s.job = job
	}
	object, _, _ := o.Caches.Pods.Get(s.pod) // an indexer returns no errors
	if pod, ok := object.(*corev1.Pod); ok && o.Caches.LacksPod(s.pod) && pod.UID == s.pod.UID {
		s.pod = pod
	}
}

func (o *Loop) judgeFor(ctx context.Context, s observedPod) error {
	s.mode = metrics.ModeObserve
	program, err := o.Program(s.job.Spec.PodFailurePolicy)
	if err != nil {
		s.invalid = err
		o.settle(s.pod, s, o.firstWarning(ctx, s.job, err))
		return nil
	}
	s.verdict, s.program = runtime.Unmatched(s.pod), program
	if program != nil {
		s.verdict = program.Evaluate(ctx, s.pod)
	}
	if err := o.judgeCustom(ctx, &s, program); err != nil || ctx.Err() != nil {
		return cmp.Or(err, ctx.Err()) // the evaluation was interrupted
	}
	o.settle(s.pod, s, program != nil || len(s.would) > 0 || len(s.problems) > 0)
	return nil
}

// judges reports whether this loop evaluates the pods of a Job. The running loop evaluates the pods of managed Jobs.
func (o *Loop) judges(job *batchv1.Job) bool { return o.Others && !plan.Managed(job) }

// firstWarning reports whether to write the event for a policy that does not compile. It is written once per Job.
func (o *Loop) firstWarning(ctx context.Context, job *batchv1.Job, err error) bool {
	if _, warned := o.warned.Get(job.UID); warned {
		return false
	}
	o.warned.Add(job.UID, nil)
	klog.FromContext(ctx).Error(err, "The podFailurePolicy has no meaning, no verdicts are given", "job", klog.KObj(job))
	return true
}

// writeEvent creates the event for a pod.
func (o *Loop) writeEvent(ctx context.Context, key podKey) error {
	s, found := o.observedPod(key.uid)
	if !found || s.stage != judged {
		return nil
	}
	event, err := o.event(ctx, &s)
	if err != nil {
		return err
	}
	_, err = o.Client.EventsV1().Events(event.Namespace).Create(ctx, event, metav1.CreateOptions{})
	switch {
	case err == nil:
		o.finish(key, metrics.EventCreated)
	case apierrors.IsAlreadyExists(err):
		o.finish(key, metrics.EventFound)
	case apierrors.IsNotFound(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		o.finish(key, metrics.EventDropped) // the namespace is terminating, including its events
	default:
		return fmt.Errorf("create event %s of %s %s/%s: %w", event.Name, event.Regarding.Kind, event.Namespace, event.Regarding.Name, err)
	}
	return nil
}

// event returns the event for a pod. It returns an error if the context is done.
func (o *Loop) event(ctx context.Context, s *observedPod) (*eventsv1.Event, error) {
	var event *eventsv1.Event
	switch {
	case s.invalid != nil:
		event = policyEvent(plan.OwnerFor(s.job), s.invalid)
	case s.program != nil && !s.verdict.Matched:
		explanation, err := s.program.Explain(ctx, (&snapshot.Pod{Object: s.pod}).Input(s.job, time.Time{}))
		if err != nil {
			return nil, err
		}
		event = verdictEvent(s, explanation.Rules)
	default:
		event = verdictEvent(s, nil)
	}
	event.EventTime, event.ReportingInstance = metav1.NewMicroTime(o.Clock.Now()), o.instance
	return event, nil
}

// giveUp ends the work on a pod after maxTries failures. A missing Job is not counted as a failure: it was deleted, and its pods will be
// too.
func (o *Loop) giveUp(ctx context.Context, key podKey, err error) {
	s, found := o.observedPod(key.uid)
	switch {
	case !found:
	case s.stage == unjudged:
		klog.FromContext(ctx).V(2).Info("No verdict is given", "reason", err)
		o.finish(key, "")
	default:
		klog.FromContext(ctx).Error(err, "Giving up on the event of a verdict", "tries", maxTries)
		o.finish(key, metrics.EventDropped)
	}
}
