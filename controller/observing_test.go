package controller

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"
)

// observing is an observer with what it sees, and what it does.
type observing struct {
	*observer

	counts  counted
	clock   *clocktesting.FakeClock
	client  *fake.Clientset
	refusal atomic.Pointer[error] // of events
	calls   atomic.Int32
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newObserving is an observer that has been at work for a minute.
func newObserving(t *testing.T, others bool, jobs ...*batchv1.Job) *observing {
	t.Helper()
	o := &observing{counts: newCounted(t), clock: clocktesting.NewFakeClock(start), client: fake.NewClientset()}
	cached := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, job := range jobs {
		if err := cached.Add(job); err != nil {
			t.Fatal(err)
		}
	}
	options := Options{Observe: others, Metrics: o.counts.Metrics, Clock: o.clock}
	o.observer = newObserver(options, cached, cache.NewIndexer(cache.MetaNamespaceKeyFunc, podIndexers), o.client, newTestPrograms(t, 10).programs, &registry{caching: newCaching(true)})
	o.client.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
		o.calls.Add(1)
		if refusal := o.refusal.Load(); refusal != nil {
			return true, nil, *refusal
		}
		return false, nil, nil
	})
	o.start()
	o.clock.Step(time.Minute)
	return o
}

// quiet is a context in which nothing is logged.
func quiet(t *testing.T) context.Context {
	t.Helper()
	return klog.NewContext(t.Context(), klog.Logger{})
}

func (o *observing) expectCalls(t *testing.T, want int32) {
	t.Helper()
	if got := o.calls.Load(); got != want {
		t.Errorf("%d calls were made, want %d", got, want)
	}
}

// settleAll does all that is to be done now.
func (o *observing) settleAll(t *testing.T) {
	t.Helper()
	drain(t, o.judging, o.judge)
	drain(t, o.events, o.tell)
}

func drain(t *testing.T, queue queue[podKey], do func(context.Context, podKey) error) {
	t.Helper()
	for queue.Len() > 0 {
		key, _ := queue.Get()
		if err := do(quiet(t), key); err != nil {
			queue.AddRateLimited(key)
		}
		queue.Done(key)
	}
}

// expectNotes compares the events of the namespace, as name, type and note.
func (o *observing) expectNotes(t *testing.T, want ...string) {
	t.Helper()
	list, err := o.client.EventsV1().Events("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list.Items {
		got = append(got, e.Regarding.Name+" "+e.Type+": "+e.Note)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the events differ (-want +got):\n%s", diff)
	}
}

// failedPod is a pod of the Job train whose container failed a minute after the start.
func failedPod(name string, exitCode int32) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID("uid-of-" + name), CreationTimestamp: metav1.NewTime(start.Add(-24 * time.Hour)),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: "uid-of-train", Controller: new(true),
			}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: exitCode, FinishedAt: metav1.NewTime(start.Add(time.Minute)),
			}},
		}}},
	}
}

func endedAt(pod *corev1.Pod, at time.Time) *corev1.Pod {
	pod.Status.ContainerStatuses[0].State.Terminated.FinishedAt = metav1.NewTime(at)
	return pod
}

// othersJob is run by kube-controller-manager, ownJob by us.
func othersJob(policy *batchv1.PodFailurePolicy) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "train", UID: "uid-of-train"},
		Spec:       batchv1.JobSpec{PodFailurePolicy: policy},
	}
}

func ownJob(policy *batchv1.PodFailurePolicy) *batchv1.Job {
	job := othersJob(policy)
	job.Spec.ManagedBy, job.Spec.Parallelism, job.Spec.Completions = new(Name), new(int32(1)), new(int32(1))
	return job
}

// runUntil runs the observer, with the clock, until the condition holds, and stops it.
func (o *observing) runUntil(t *testing.T, done func() bool) {
	t.Helper()
	ctx, stop := context.WithCancel(quiet(t))
	var running sync.WaitGroup
	running.Go(func() { o.run(ctx) })
	defer running.Wait()
	defer stop()
	err := wait.PollUntilContextTimeout(ctx, time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		o.clock.Step(10 * time.Second)
		return done(), nil
	})
	if err != nil {
		t.Error(err)
	}
}

func (o *observing) told(uid types.UID) func() bool {
	return func() bool {
		s, found := o.observedPod(uid)
		return found && s.stage == told
	}
}
