package running

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
)

var podResource = schema.GroupResource{Resource: "pods"}

// answer overrides the API server's response to calls of a kind. A nil object and error keep the default behavior.
func (d *testJob) answer(verb, resource string, answer func(clienttesting.Action) (apiruntime.Object, error)) {
	d.api.PrependReactor(verb, resource, func(a clienttesting.Action) (bool, apiruntime.Object, error) {
		object, err := answer(a)
		return object != nil || err != nil, object, err
	})
}

func (d *testJob) refuse(verb, resource string, err error) {
	d.answer(verb, resource, func(clienttesting.Action) (apiruntime.Object, error) { return nil, err })
}

// calls returns the API calls since the last time, such as "create pods".
func (d *testJob) calls() []string {
	var calls []string
	for _, a := range d.api.Actions() {
		resource := a.GetResource().Resource
		if a.GetSubresource() != "" {
			resource += "/" + a.GetSubresource()
		}
		calls = append(calls, a.GetVerb()+" "+resource)
	}
	d.api.ClearActions()
	return calls
}

func (d *testJob) recorded() []string {
	var told []string
	for {
		select {
		case event := <-d.events.Events:
			told = append(told, event)
		default:
			return told
		}
	}
}

func countCalls(calls []string, call string) int {
	return len(slices.DeleteFunc(slices.Clone(calls), func(c string) bool { return c != call }))
}

// TestCreationIsRecorded checks that an event names the created pods.
func TestCreationIsRecorded(t *testing.T) {
	d := newTestJob(t, fixtures.ManagedJob(1))
	if _, err := d.sync(t.Context(), d.key); err != nil {
		t.Fatal(err)
	}
	if told := d.recorded(); !slices.ContainsFunc(told, func(e string) bool { return strings.HasPrefix(e, "Normal SuccessfulCreate Created pod: ") }) {
		t.Errorf("the events are %q", told)
	}
}

// TestRefusedCreation checks that after a failed creation, only one pod is created at a time, and that the failure is recorded as an event
// of the Job.
func TestRefusedCreation(t *testing.T) {
	d := newTestJob(t, fixtures.ManagedJob(5))
	d.refuse("create", "pods", apierrors.NewForbidden(podResource, "x", errors.New("exceeded quota")))
	for range 2 {
		_, err := d.sync(t.Context(), d.key)
		if !apierrors.IsForbidden(err) {
			t.Fatalf("the error is %v", err)
		}
		if calls := d.calls(); countCalls(calls, "create pods") != 1 {
			t.Errorf("calls are %v", calls)
		}
		if told := d.recorded(); len(told) == 0 || !strings.HasPrefix(told[0], "Warning FailedCreate Error creating: pods \"x\" is forbidden") {
			t.Errorf("told is %q", told)
		}
	}
	d.api.ReactionChain = d.api.ReactionChain[1:]
	for _, want := range []int{1, 4} {
		if _, err := d.sync(t.Context(), d.key); err != nil {
			t.Fatal(err)
		}
		if calls := d.calls(); countCalls(calls, "create pods") != want {
			t.Errorf("calls are %v, want %d creations", calls, want)
		}
	}
}

// TestFirstReplacementIsCounted checks that a replacement is counted in the sync that first observes the failure, when the status does not
// include it yet.
func TestFirstReplacementIsCounted(t *testing.T) {
	for name, test := range map[string]struct {
		policy      *batchv1.PodReplacementPolicy
		terminating int32 // in the status
		want        string
	}{
		"of terminating or failed pods": {nil, 0, "recreate_terminating_or_failed"},
		"of failed pods":                {new(batchv1.Failed), 1, "recreate_failed"},
	} {
		t.Run(name, func(t *testing.T) {
			job := fixtures.ManagedJob(1) // with backoffLimitPerIndex, the status counts a failure after its replacement
			job.Spec.PodReplacementPolicy, job.Status.Terminating = test.policy, &test.terminating
			d := newTestJob(t, job)
			failed := plan.Next(plan.Observation{Job: job, Now: d.now.Now()}).Create[0]
			failed.UID, failed.ResourceVersion, failed.Status.Phase = "failed", "2", corev1.PodFailed
			failed.CreationTimestamp = metav1.NewTime(d.now.Now().Add(-time.Hour))
			fixtures.Put(t, d.Caches.Pods.Add(failed))
			counted := fixtures.NewCounted(t)
			d.Metrics = counted.Metrics
			d.syncs(t)
			if got := counted.Series(t)["job_pods_creation_total{reason="+test.want+",status=succeeded}"]; got != 1 {
				t.Errorf("%v creations are counted as %s: %v", got, test.want, counted.Series(t))
			}
		})
	}
}

// TestExistingName checks that a name used by another owner's pod is skipped, and that the Job's own pod of that name counts as created.
func TestExistingName(t *testing.T) {
	for _, own := range []bool{true, false} {
		t.Run(fmt.Sprint(own), func(t *testing.T) {
			job := fixtures.ManagedJob(1)
			d := newTestJob(t, job)
			d.answer("create", "pods", func(a clienttesting.Action) (apiruntime.Object, error) {
				create, _ := a.(clienttesting.CreateAction)
				pod, _ := create.GetObject().(*corev1.Pod)
				if pod.Labels[plan.AttemptLabel] != "1" {
					return nil, nil //nolint:nilnil // as it is
				}
				existing := pod.DeepCopy()
				existing.UID, existing.ResourceVersion = "existing", "7"
				if !own {
					existing.OwnerReferences = nil
				}
				if err := d.api.Tracker().Add(existing); err != nil && !apierrors.IsAlreadyExists(err) {
					t.Error(err)
				}
				return nil, apierrors.NewAlreadyExists(podResource, pod.Name)
			})
			for range 2 {
				if _, err := d.sync(t.Context(), d.key); err != nil {
					t.Fatal(err)
				}
			}
			calls := d.calls()
			if want := map[bool]int{true: 1, false: 2}[own]; countCalls(calls, "create pods") != want {
				t.Errorf("calls are %v, want %d creations", calls, want)
			}
		})
	}
}

// TestUnknownCreation checks that a pod is looked up while it is unknown whether it was created.
func TestUnknownCreation(t *testing.T) {
	d := newTestJob(t, fixtures.ManagedJob(1))
	d.refuse("create", "pods", apierrors.NewInternalError(errors.New("etcdserver: request timed out")))
	unknown := func() int {
		d.calls()
		if _, err := d.sync(t.Context(), d.key); !apierrors.IsInternalError(err) {
			t.Fatalf("the error is %v", err)
		}
		return len(d.states.of(plan.Owner{NamespacedName: d.key, UID: "job-uid"}).unknown)
	}
	if got := unknown(); got != 1 {
		t.Errorf("%d creations have no known outcome", got)
	}
	w := &work{reconciler: d.reconciler, state: d.states.of(plan.Owner{NamespacedName: d.key, UID: "job-uid"}), job: fixtures.ManagedJob(1)}
	w.job.Namespace = "ns"
	for _, test := range []struct {
		after time.Duration
		want  int
	}{{CallTimeout, 1}, {CallTimeout + time.Second, 0}} {
		d.now.SetTime(time.Unix(1e9, 0).Add(test.after))
		if err := w.lookUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := len(w.state.unknown); got != test.want {
			t.Errorf("%s after the call, %d creations have no known outcome, want %d", test.after, got, test.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct {
		err  error
		want bool
	}{
		{apierrors.NewForbidden(podResource, "x", errors.New("quota")), true},
		{apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "x", nil), true},
		{apierrors.NewTooManyRequests("later", 1), true},
		{apierrors.NewInternalError(errors.New("etcd")), false},
		{apierrors.NewTimeoutError("slow", 1), false},
		{apierrors.NewServerTimeout(podResource, "create", 1), false},
		{&apierrors.StatusError{ErrStatus: metav1.Status{Code: 408, Reason: metav1.StatusReasonTimeout}}, false},
		{errors.New("connection reset by peer"), false},
	} {
		if got := refused(test.err); got != test.want {
			t.Errorf("%v: refused is %t", test.err, got)
		}
	}
}

func TestCreatedMessage(t *testing.T) {
	for want, names := range map[string][]string{
		"Created pod: a":                     {"a"},
		"Created 2 pods: a, b":               {"b", "a"},
		"Created 7 pods: a, b, c, d, e, ...": {"g", "f", "e", "d", "c", "b", "a"},
	} {
		if got := createdMessage(names); got != want {
			t.Errorf("message is %q, want %q", got, want)
		}
	}
}
