package running

import (
	"errors"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
)

// occupy makes the first created pod exist already, modified by another client. The returned function returns its name.
func (d *testJob) occupy(t *testing.T, change func(*corev1.Pod)) func() string {
	t.Helper()
	name := ""
	d.answer("create", "pods", func(a clienttesting.Action) (apiruntime.Object, error) {
		pod := a.(clienttesting.CreateAction).GetObject().(*corev1.Pod).DeepCopy()
		if name == "" {
			name, pod.UID, pod.ResourceVersion = pod.Name, "occupant", "7"
			change(pod)
			if err := d.api.Tracker().Add(pod); err != nil {
				t.Error(err)
			}
		}
		if pod.Name != name {
			return nil, nil //nolint:nilnil // as it is
		}
		return nil, apierrors.NewAlreadyExists(podResource, name)
	})
	return func() string { return name }
}

// TestPodThatCachesDoNotShowIsLetGo checks that a pod created by the controller that the caches do not list as one of the Job
// keeps neither its finalizer nor its slot.
func TestPodThatCachesDoNotShowIsLetGo(t *testing.T) {
	for name, change := range map[string]func(*corev1.Pod){
		"no label":                    func(p *corev1.Pod) { delete(p.Labels, batchv1.ControllerUidLabel) },
		"no labels":                   func(p *corev1.Pod) { p.Labels = nil },
		"no owner":                    func(p *corev1.Pod) { p.OwnerReferences = nil },
		"an owner of another version": func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "batch/v1beta1" },
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestJob(t, fixtures.ManagedJob(1))
			occupant := d.occupy(t, change)
			for range 4 {
				d.syncs(t)
			}
			if calls := d.calls(); countCalls(calls, "create pods") != 2 {
				t.Errorf("calls are %v, want 2 creations", calls)
			}
			pod, err := d.api.CoreV1().Pods("ns").Get(t.Context(), occupant(), metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
				t.Error("the pod keeps the finalizer, and nobody will remove it")
			}
		})
	}
}

// remember makes the API server set UIDs and versions, and return the pods whose finalizer is removed.
func (d *testJob) remember() {
	d.answer("create", "pods", func(a clienttesting.Action) (apiruntime.Object, error) {
		pod := a.(clienttesting.CreateAction).GetObject().(*corev1.Pod).DeepCopy()
		pod.UID, pod.ResourceVersion = types.UID(pod.Name), "10"
		return pod, nil
	})
	d.answer("patch", "pods", func(a clienttesting.Action) (apiruntime.Object, error) {
		name := a.(clienttesting.PatchAction).GetName()
		pod := d.states.of(plan.Owner{NamespacedName: d.key, UID: "job-uid"}).returned[name][0].DeepCopy()
		pod.ResourceVersion, pod.Finalizers = "20", nil
		return pod, nil
	})
	d.answer("delete", "pods", func(clienttesting.Action) (apiruntime.Object, error) { return &metav1.Status{}, nil })
}

// TestPodsAreDeletedOnceWhileTheCacheLags checks that pods that are missing in the cache are not deleted a second time.
func TestPodsAreDeletedOnceWhileTheCacheLags(t *testing.T) {
	job := fixtures.ManagedJob(3)
	d := newTestJob(t, job)
	d.Caches.Pods.Bookmark("5")
	d.remember()
	d.syncs(t)
	suspended := job.DeepCopy()
	suspended.Spec.Suspend, suspended.ResourceVersion = new(true), "100"
	if err := d.Caches.Jobs.Update(suspended); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		d.now.SetTime(d.now.Now().Add(d.syncs(t)))
	}
	if calls := d.calls(); countCalls(calls, "delete pods") != 3 {
		t.Errorf("calls are %v, want 3 deletions", calls)
	}
}

// TestCreationMayTakeEffectSinceItWasSent checks that a creation that waited for the client's rate limiter is not given up while
// the API server may still process it.
func TestCreationMayTakeEffectSinceItWasSent(t *testing.T) {
	d := newTestJob(t, fixtures.ManagedJob(1))
	d.answer("create", "pods", func(clienttesting.Action) (apiruntime.Object, error) {
		d.now.SetTime(d.now.Now().Add(20 * time.Second))
		return nil, errors.New("connection reset by peer")
	})
	if _, err := d.sync(t.Context(), d.key); err == nil {
		t.Error("there is no error")
	}
	unknown := d.states.of(plan.Owner{NamespacedName: d.key, UID: "job-uid"}).unknown
	for name, until := range unknown {
		if want := d.now.Now().Add(CallTimeout); !until.Equal(want) {
			t.Errorf("the creation of %s may take effect until %s, want %s", name, until, want)
		}
	}
	if len(unknown) != 1 {
		t.Errorf("%d creations have no known outcome", len(unknown))
	}
}

// TestPartialFailureIsLeftToTheBackOff checks that a sync that changes something and then fails is left to the back-off, which is
// longer than the wait for events.
func TestPartialFailureIsLeftToTheBackOff(t *testing.T) {
	d := newTestJob(t, fixtures.ManagedJob(2))
	created := 0
	d.answer("create", "pods", func(clienttesting.Action) (apiruntime.Object, error) {
		if created++; created > 1 {
			return nil, apierrors.NewForbidden(podResource, "x", errors.New("exceeded quota"))
		}
		return nil, nil //nolint:nilnil // as it is
	})
	again, err := d.sync(t.Context(), d.key)
	if !apierrors.IsForbidden(err) || created != 2 {
		t.Fatalf("after %d creations the error is %v", created, err)
	}
	if again != 0 {
		t.Errorf("the next look is in %s, though nothing is due", again)
	}
}

// TestWidth checks that the calls for one Job use at most one batch period of the rate limit, so that calls for others do not
// wait.
func TestWidth(t *testing.T) {
	for _, test := range []struct {
		qps    float32
		period time.Duration
		want   int
	}{
		{0, time.Second, int(rest.DefaultQPS)},
		{0.1, time.Second, 1},
		{12.5, time.Second, 13},
		{50, time.Second, 50},
		{50, 100 * time.Millisecond, 5},
		{50, time.Minute, maxWidth},
		{1000, time.Second, maxWidth},
		{-1, time.Second, maxWidth}, // no limit
	} {
		if got := width(test.qps, test.period); got != test.want {
			t.Errorf("at %v calls a second and a batch period of %s: %d at a time, want %d", test.qps, test.period, got, test.want)
		}
	}
}
