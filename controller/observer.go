package controller

import (
	"cmp"
	"context"
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
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
)

// observer tells what the failures of pods mean: in metrics, and in an event for each pod that a rule decides on. It judges
// the pods of Jobs that others run, where pods that no rule matches get an event too, and asks the custom policies that are
// bound to such a Job what they would do; the verdicts on pods of managed Jobs come from the reconciler. It changes nothing.
//
// A pod is told of once. The name of its event is a function of its UID, so an event that is there was told before, by
// whatever replica. In the metrics, a pod that failed after this process began is counted when it is judged. One that had
// failed before was counted by the process before, unless nobody was at work; so it is counted when its event is new. What
// gets no event, and failed while no process was at work, is in no metric.
//
// Events live an hour unless the API server is told otherwise, so a pod that failed longer ago gets none.
type observer struct {
	client   kubernetes.Interface
	recorder events.EventRecorder // of what goes wrong
	jobs     cache.Indexer
	others   bool // whether pods of Jobs that others run are of interest
	programs *programs
	policies *registry
	attempts attempts
	metrics  *Metrics
	clock    clock.PassiveClock
	instance string // of the controller, as events have it

	// A pod waits in the first queue to be judged, which takes no call, and in the second for its event.
	judging, events queue[podKey]
	warned          *lru.Cache // the UIDs of Jobs whose policy does not compile

	mu           sync.Mutex
	started      time.Time // when the first pod was seen, or run was called
	observedPods map[types.UID]*observedPod
	room         *shares // for those whose event waits
}

const (
	// eventLife is how long the API server keeps events (its flag --event-ttl).
	eventLife = time.Hour
	// maxTries is how often the API server is asked to take an event: over more than eight minutes.
	maxTries = 10
	// afterlife is how long a pod that is gone is remembered, for Plans that were made from older lists.
	afterlife = 5 * time.Minute
	// maxWarned is how many Jobs are remembered as warned of; others get a second call, but no second event.
	maxWarned = 1000
	// observers is how many pods are judged at a time, and how many events are told.
	observers = 1
)

// newObserver tells by the client, which should have a limit of its own: events can wait, and calls for Jobs cannot.
func newObserver(o Options, jobs, pods cache.Indexer, client kubernetes.Interface, programs *programs, policies *registry) *observer {
	const shortest, longest = time.Second, 5 * time.Minute
	namespaceOf := func(key podKey) string { return key.namespace }
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	const longestHost = 63
	return &observer{
		client: client, jobs: jobs, others: o.Observe, programs: programs, policies: policies, attempts: newAttempts(pods),
		metrics: o.Metrics, clock: o.Clock,
		instance:     Name + "-" + host[:min(len(host), longestHost)],
		judging:      newQueue(o.Clock, observers, shortest, longest, namespaceOf),
		events:       newQueue(o.Clock, observers, shortest, longest, namespaceOf),
		warned:       lru.New(maxWarned),
		observedPods: map[types.UID]*observedPod{}, room: newShares(maxEvents),
	}
}

// enqueue is to be called with every state of every pod that the caches show.
func (o *observer) enqueue(pod *corev1.Pod) {
	if _, owned := plan.OwnerOf(pod); !owned || pod.Status.Phase != corev1.PodFailed {
		return
	}
	job := cachedJob(o.jobs, pod)
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

// judged is to be called with the verdicts on pods of managed Jobs, any number of times. The first one is told.
func (o *observer) judged(pod *corev1.Pod, v report) {
	o.settle(pod, observedPod{report: v, mode: modeManage}, v.verdict.Matched || v.notable())
}

// forget is to be called with every pod that is gone. What was to be told of it still is.
func (o *observer) forget(pod *corev1.Pod) {
	o.enqueue(pod) // the last state may be the first that shows the failure
	job := cachedJob(o.jobs, pod)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch s := o.observedPods[pod.UID]; {
	case s == nil && job != nil && managed(job) && pod.Status.Phase == corev1.PodFailed: // a Plan under way may tell of it yet
		o.observedPods[pod.UID] = &observedPod{pod: pod, job: job, gone: true}
		o.judging.AddAfter(keyOf(pod), afterlife)
	case s != nil && !s.gone:
		s.gone = true
		if s.stage == told {
			o.close(keyOf(pod), s)
		}
	}
}

// run works until ctx is done, and returns when nothing is under way any more. What was not told then is told after the
// next start, as long as the pods are there.
func (o *observer) run(ctx context.Context) {
	o.mu.Lock()
	o.start()
	o.mu.Unlock()
	var running sync.WaitGroup
	for range observers + reserve {
		running.Go(func() { o.work(ctx, o.judging, judgingPod, o.judge) })
		running.Go(func() { o.work(ctx, o.events, tellingVerdict, o.tell) })
	}
	<-ctx.Done()
	o.judging.ShutDown()
	o.events.ShutDown()
	running.Wait()
}

// start begins the time in which pods that fail are counted as soon as they are judged.
func (o *observer) start() {
	if o.started.IsZero() {
		o.started = o.clock.Now()
	}
}

func (o *observer) work(ctx context.Context, q queue[podKey], doing activity, do func(context.Context, podKey) error) {
	for {
		key, down := q.Get()
		if down || ctx.Err() != nil {
			return
		}
		err := o.metrics.guard(ctx, doing, func() error { return do(inNamespace(ctx, key.namespace), key) })
		if s, found := o.observedPod(key.uid); panicked(err) && found && s.job != nil {
			o.recorder.Eventf(s.job, nil, corev1.EventTypeWarning, reasonPanic, eventAction, "%s", panicNote(err))
		}
		switch {
		case err == nil:
			q.Forget(key)
		case ctx.Err() != nil:
		case q.NumRequeues(key) < maxTries-1:
			klog.FromContext(ctx).V(2).Info("Will try again to tell a verdict", "reason", err)
			q.AddRateLimited(key)
		default:
			q.Forget(key)
			o.giveUp(ctx, key, err)
		}
		q.Done(key)
	}
}

// judge gives a verdict on a pod of a Job that somebody else runs. The error is that the caches do not show the Job.
func (o *observer) judge(ctx context.Context, key podKey) error {
	s, found := o.observedPod(key.uid)
	switch {
	case found && s.stage == told && s.gone:
		o.remove(key.uid, told)
		return nil
	case !found || s.stage != unjudged:
		return nil
	}
	if s.job == nil {
		if s.job = cachedJob(o.jobs, s.pod); s.job == nil {
			return errNoJob(s.pod)
		}
	}
	switch {
	case !o.judges(s.job):
		o.remove(key.uid, unjudged)
		return nil
	case !o.policies.knows(s.job.Namespace):
		return errNamespace(s.job)
	}
	if o.policies.binds.Load() {
		o.refresh(&s)
	}
	return o.judgeFor(ctx, s)
}

// refresh replaces the pod and the Job by what the caches have now, where that is more of what rules read.
func (o *observer) refresh(s *observedPod) {
	if job := cachedJob(o.jobs, s.pod); o.policies.caching.jobs.lacks(s.job) && job != nil {
		s.job = job
	}
	object, _, _ := o.attempts.pods.Get(s.pod) // an indexer has no errors
	if pod, ok := object.(*corev1.Pod); ok && o.policies.caching.pods.lacks(s.pod) && pod.UID == s.pod.UID {
		s.pod = pod
	}
}

func (o *observer) judgeFor(ctx context.Context, s observedPod) error {
	s.mode = modeObserve
	program, err := o.programs.of(s.job.Spec.PodFailurePolicy)
	if err != nil {
		s.invalid = err
		o.settle(s.pod, s, o.warns(ctx, s.job, err))
		return nil
	}
	s.verdict, s.program = runtime.Unmatched(s.pod), program
	if program != nil {
		s.verdict = program.Evaluate(ctx, s.pod)
	}
	if err := o.bound(ctx, &s, program); err != nil || ctx.Err() != nil {
		return cmp.Or(err, ctx.Err()) // a verdict was cut short
	}
	o.settle(s.pod, s, program != nil || s.notable())
	return nil
}

// judges tells whether the pods of a Job are judged here. The reconciler judges those of managed Jobs.
func (o *observer) judges(job *batchv1.Job) bool { return o.others && !managed(job) }

// warns tells whether a Job's policy, which does not compile, is to be told, which it is once.
func (o *observer) warns(ctx context.Context, job *batchv1.Job, err error) bool {
	if _, warned := o.warned.Get(job.UID); warned {
		return false
	}
	o.warned.Add(job.UID, nil)
	klog.FromContext(ctx).Error(err, "The podFailurePolicy has no meaning, no verdicts are given", "job", klog.KObj(job))
	return true
}

// tell creates the event of a pod.
func (o *observer) tell(ctx context.Context, key podKey) error {
	s, found := o.observedPod(key.uid)
	if !found || s.stage != judged {
		return nil
	}
	event, err := o.event(ctx, &s)
	if err != nil {
		return err
	}
	_, err = o.client.EventsV1().Events(event.Namespace).Create(ctx, event, metav1.CreateOptions{})
	switch {
	case err == nil:
		o.finish(key, eventCreated)
	case apierrors.IsAlreadyExists(err):
		o.finish(key, eventFound)
	case apierrors.IsNotFound(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		o.finish(key, eventDropped) // the namespace goes, and its events with it
	default:
		return errTell(event, err)
	}
	return nil
}

// event is what is to be told. The error is that of a context which is done.
func (o *observer) event(ctx context.Context, s *observedPod) (*eventsv1.Event, error) {
	var event *eventsv1.Event
	switch {
	case s.invalid != nil:
		event = policyEvent(plan.OwnerFor(s.job), s.invalid)
	case s.program != nil && !s.verdict.Matched:
		explanation, err := s.program.Explain(ctx, runtime.Input{Pod: s.pod, Job: s.job})
		if err != nil {
			return nil, err
		}
		event = verdictEvent(s, explanation.Rules)
	default:
		event = verdictEvent(s, nil)
	}
	event.EventTime, event.ReportingInstance = metav1.NewMicroTime(o.clock.Now()), o.instance
	return event, nil
}

// giveUp is for what has failed maxTries times. A Job that is not there is no failure: it was deleted, and its pods die with
// it.
func (o *observer) giveUp(ctx context.Context, key podKey, err error) {
	s, found := o.observedPod(key.uid)
	switch {
	case !found:
	case s.stage == unjudged:
		klog.FromContext(ctx).V(2).Info("No verdict is given", "reason", err)
		o.finish(key, "")
	default:
		klog.FromContext(ctx).Error(err, "Giving up on the event of a verdict", "tries", maxTries)
		o.finish(key, eventDropped)
	}
}
