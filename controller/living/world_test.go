package living

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
	"github.com/podverdict/podverdict/runtime/binding"
)

// world is an API server with Jobs whose pods are pending, and a loop over them. It runs in a synctest bubble with virtual time.
type world struct {
	*testing.T
	*Loop

	server *memoryapi.Server
	counts fixtures.Counted
	set    atomic.Pointer[binding.Set]

	mu     sync.Mutex
	calls  []string // writes
	events []string
	last   *http.Request // last write request
	// before is called with each write before it takes effect. If it returns an error, the call fails with it and has no effect.
	before func(memoryapi.Call) error
}

// inWorld runs a test in a bubble, with a controller that also ends pods of others' Jobs.
func inWorld(t *testing.T, run func(*world)) {
	t.Helper()
	inWorldOf(t, false, run)
}

func inWorldOf(t *testing.T, observeOnly bool, run func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		w := &world{T: t, server: memoryapi.New(time.Now), counts: fixtures.NewCounted(t)}
		client, err := kubernetes.NewForConfig(memoryapi.Config(w))
		if err != nil {
			t.Fatal(err)
		}
		caches, err := caches.New(client, "", true)
		fixtures.Put(t, err)
		reads := fixtures.Everything
		reads.Node = cel.NewFields("Node.*")
		caches.Keep(reads, v1alpha1.LivingPhases...)
		var running sync.WaitGroup
		defer running.Wait()
		ctx, stop := context.WithCancel(w.context())
		defer stop()
		running.Go(func() { caches.Start(ctx, &running) }) // asynchronous, because it needs time, which tests count
		w.Loop = New(Options{
			Client: client, Caches: caches, Others: true, ObserveOnly: observeOnly, Recorder: w, Metrics: w.counts.Metrics,
			Clock: clock.RealClock{}, Period: DefaultPeriod, LostPeriod: DefaultLostPeriod, Count: w.counts.LivingPod,
			Selection: func(ctx context.Context, job *batchv1.Job) (binding.Selection, error) {
				return w.set.Load().For(ctx, job, nil), nil
			},
		})
		fixtures.Put(t, caches.Subscribe(w.JobChanged, w.PodChanged))
		fixtures.Put(t, caches.SubscribeNodes(w.NodeChanged))
		run(w)
	})
}

// context returns a context with a logger that discards everything.
func (w *world) context() context.Context {
	return klog.NewContext(w.Context(), logr.Discard())
}

// RoundTrip forwards requests to the server, unless the test handles them.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	call, err := memoryapi.ReadCall(r)
	if err != nil {
		return nil, err
	}
	if call.Writes() {
		w.mu.Lock()
		w.calls = append(w.calls, call.String())
		w.last = r
		w.mu.Unlock()
		if w.before != nil {
			if err := w.before(call); err != nil {
				return nil, err
			}
		}
	}
	return w.server.RoundTrip(r)
}

// Eventf records an event.
func (w *world) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	job, _ := regarding.(*batchv1.Job)
	pod, _ := related.(*corev1.Pod)
	if job == nil || pod == nil || action != eventAction {
		w.Errorf("an event of %T about %T: %s", regarding, related, action)
		return
	}
	w.events = append(w.events, fmt.Sprintf("%s %s/%s ", kind, job.Name, pod.Name)+reason+": "+fmt.Sprintf(note, args...))
}

// took returns the writes since the last call.
func (w *world) took() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls = nil
	return calls
}

func (w *world) told() []string {
	told := w.events
	w.events = nil
	return told
}

// lookAgain runs a pass after a period, when the caches are up to date.
func (w *world) lookAgain() {
	time.Sleep(DefaultPeriod)
	synctest.Wait()
	w.runOnce(w.context())
}

// bind sets the policies in effect, each with a binding of the same name.
func (w *world) bind(policies ...fixtures.BoundPolicy) {
	w.Helper()
	w.set.Store(fixtures.SetOf(w.T, policies...))
	w.PoliciesChanged("")
}

// lateImage returns a rule that matches a pod that has waited for its image for ten minutes.
func lateImage() v1alpha1.Rule {
	return v1alpha1.Rule{
		Name: "image", Phase: corev1.PodPending, Action: batchv1.PodFailurePolicyActionIgnore, Reason: "ImageUnavailable",
		When: "'ImagePullBackOff' in pod.waitingReasons() && pod.pendingFor(now) > duration('10m')",
	}
}

// startPolicy returns the policy start with the given rules.
func startPolicy(rules ...v1alpha1.Rule) fixtures.BoundPolicy {
	return fixtures.BoundPolicy{Name: "start", Rules: rules}
}

func (w *world) createJob(name string, change func(*batchv1.Job)) *batchv1.Job {
	w.Helper()
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	if change != nil {
		change(job)
	}
	job, err := w.server.CreateJob(job)
	if err != nil {
		w.Fatal(err)
	}
	return job
}

// createPod creates a pod of the Job on a node that cannot pull its image.
func (w *world) createPod(job *batchv1.Job, name string) {
	w.Helper()
	_, err := w.server.CreatePod(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: name, Labels: map[string]string{batchv1.ControllerUidLabel: string(job.UID)},
			Finalizers:      []string{batchv1.JobTrackingFinalizer},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: job.UID, Controller: new(true)}},
		},
		Spec: corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "main", Image: "image"}}},
	})
	if err != nil {
		w.Fatal(err)
	}
	w.server.ChangePod(job.Namespace, name, func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}},
		}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, Reason: "Bound"}}
	})
}

func (w *world) pod(name string) *corev1.Pod {
	w.Helper()
	for _, pod := range w.server.Pods() {
		if pod.Name == name {
			return pod
		}
	}
	w.Fatalf("no pod %s", name)
	return nil
}

// start makes a pod run, as the kubelet does.
func (w *world) start(name string) {
	w.server.ChangePod("default", name, func(pod *corev1.Pod) {
		pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, new(metav1.Now())
	})
}

// state describes the pod's condition and whether it is being deleted.
func (w *world) state(name string) string {
	w.Helper()
	pod := w.pod(name)
	state := "unmarked"
	for _, c := range pod.Status.Conditions {
		if c.Type != corev1.PodScheduled {
			state = string(c.Status) + " " + c.Reason
		}
	}
	return state + ", deleted " + strconv.FormatBool(pod.DeletionTimestamp != nil)
}

func (w *world) expectState(name, want string) {
	w.Helper()
	if got := w.state(name); got != want {
		w.Errorf("%s: %s, want %s", name, got, want)
	}
}

var errCrash = errors.New("the controller is gone")
