package observing

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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/internal/fair"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// testLoop is a loop with its inputs and its recorded effects.
type testLoop struct {
	*Loop

	counts  fixtures.Counted
	clock   *clocktesting.FakeClock
	api     *fake.Clientset
	lines   []string              // names of pods written to the history
	refusal atomic.Pointer[error] // error returned for writes of events
	calls   atomic.Int32
}

// newTestLoop returns a loop that has been running for a minute.
func newTestLoop(t *testing.T, others bool, jobs ...*batchv1.Job) *testLoop {
	t.Helper()
	o := &testLoop{counts: fixtures.NewCounted(t), clock: clocktesting.NewFakeClock(fixtures.Start), api: fake.NewClientset()}
	caches, err := caches.New(o.api, "", others)
	fixtures.Put(t, err)
	for _, job := range jobs {
		fixtures.Put(t, caches.Jobs.Add(job))
	}
	o.Loop = New(Options{
		Client: o.api, Caches: caches, Others: others, Program: fixtures.Program, Metrics: o.counts.Metrics, Clock: o.clock,
		Selection: fixtures.NoPolicies, Count: func(runtime.Verdict, string) {},
		History: func(pod *corev1.Pod, _ runtime.Verdict, _ []binding.Would) { o.lines = append(o.lines, pod.Name) },
	})
	o.api.PrependReactor("create", "events", o.answer)
	o.start()
	o.clock.Step(time.Minute)
	return o
}

// quiet returns a context with a logger that discards everything.
func quiet(t *testing.T) context.Context {
	t.Helper()
	return klog.NewContext(t.Context(), klog.Logger{})
}

func (o *testLoop) expectCalls(t *testing.T, want int32) {
	t.Helper()
	if got := o.calls.Load(); got != want {
		t.Errorf("%d calls were made, want %d", got, want)
	}
}

// expectNoTries checks that no retries are remembered for a pod once its event has been written or given up.
func (o *testLoop) expectNoTries(t *testing.T) {
	t.Helper()
	if got := o.events.NumRequeues(podKey{"default", "uid-of-a"}); got != 0 {
		t.Errorf("%d tries are remembered", got)
	}
}

// settleAll processes everything that is due now.
func (o *testLoop) settleAll(t *testing.T) {
	t.Helper()
	drain(t, o.judging, o.judge)
	drain(t, o.events, o.writeEvent)
}

func drain(t *testing.T, queue fair.Queue[podKey], do func(context.Context, podKey) error) {
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
func (o *testLoop) expectNotes(t *testing.T, want ...string) {
	t.Helper()
	list, err := o.api.EventsV1().Events("default").List(t.Context(), metav1.ListOptions{})
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

func endedAt(pod *corev1.Pod, at time.Time) *corev1.Pod {
	pod.Status.ContainerStatuses[0].State.Terminated.FinishedAt = metav1.NewTime(at)
	return pod
}

// runUntil runs the loop and its clock until the condition holds, and then stops it.
func (o *testLoop) runUntil(t *testing.T, done func() bool) {
	t.Helper()
	ctx, stop := context.WithCancel(quiet(t))
	var running sync.WaitGroup
	running.Go(func() { o.Run(ctx) })
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

func (o *testLoop) isDone(uid types.UID) func() bool {
	return func() bool {
		s, found := o.observedPod(uid)
		return found && s.stage == done
	}
}
