package running

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
)

var jobKind = schema.GroupKind{Group: "batch", Kind: "Job"}

func (d *testJob) syncs(t *testing.T) time.Duration {
	t.Helper()
	again, err := d.sync(t.Context(), d.key)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// TestWriteWaits checks that counters are written once per batch period while pods are created, more often when there is nothing else to
// do, and that conditions are written immediately.
func TestWriteWaits(t *testing.T) {
	old := fixtures.ManagedJob(2)
	counters := old.DeepCopy()
	counters.Status.Active = 2
	condition := old.DeepCopy()
	condition.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue}}
	ledger := old.DeepCopy()
	ledger.Status.Conditions = []batchv1.JobCondition{{Type: plan.LedgerCondition, Status: corev1.ConditionTrue, Message: "{}"}}
	busy := []*corev1.Pod{{}}
	for _, test := range []struct {
		name  string
		write *batchv1.Job
		plan  plan.Plan
		since time.Duration
		want  time.Duration // time until the write, or 0 for immediately
	}{
		{"counters at rest", counters, plan.Plan{}, 50 * time.Millisecond, 150 * time.Millisecond},
		{"counters after a rest", counters, plan.Plan{}, 200 * time.Millisecond, 0},
		{"counters at work", counters, plan.Plan{Create: busy}, 200 * time.Millisecond, 800 * time.Millisecond},
		{"counters after a batch", counters, plan.Plan{Create: busy}, time.Second, 0},
		{"a condition", condition, plan.Plan{Create: busy, Urgent: true}, 0, 0},
		{"a ledger that the next Plan needs", ledger, plan.Plan{Create: busy, Urgent: true}, 0, 0},
		{"a ledger that can wait", ledger, plan.Plan{Create: busy}, 200 * time.Millisecond, 800 * time.Millisecond},
		{"counters at rest, with an earlier look", counters, plan.Plan{LookAgain: time.Millisecond}, 0, time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newTestJob(t, old.DeepCopy())
			test.write.Namespace = "ns"
			test.plan.Write = test.write
			w := &work{reconciler: d.reconciler, state: d.states.of(plan.Owner{NamespacedName: d.key, UID: "job-uid"}), job: old, plan: test.plan}
			w.state.wrote.Store(d.now.Now().Add(-test.since).UnixNano())
			if err := w.write(t.Context()); err != nil {
				t.Fatal(err)
			}
			if written := countCalls(d.calls(), "patch jobs/status") == 1; written != (test.want == 0) {
				t.Errorf("written is %t", written)
			}
			if w.plan.LookAgain != test.want && test.want > 0 {
				t.Errorf("it will be written in %s, want %s", w.plan.LookAgain, test.want)
			}
		})
	}
}

// TestWriteKeepsUnknownFields checks that a write of the status keeps fields of newer API servers that are unknown to this program.
func TestWriteKeepsUnknownFields(t *testing.T) {
	stored := `{"metadata":{"name":"train","uid":"job-uid","resourceVersion":"7","annotations":{"mine":"1","podverdict.io/ledger":"{}"}},
		"spec":{"scheduling":{"policy":"Gang"}},"status":{"nodes":["a"],"active":2,"ready":1,"conditions":[
			{"type":"example.com/Other","status":"True","observedGeneration":3},{"type":"Suspended","status":"True","message":"m","observedGeneration":4},
			{"type":"podverdict.io/Ledger","status":"True"}]}}`
	var read batchv1.Job
	fixtures.Put(t, json.Unmarshal([]byte(stored), &read))
	written := read.DeepCopy()
	delete(written.Annotations, "podverdict.io/ledger")
	written.Status.Active, written.Status.Ready, written.Status.Failed = 0, nil, 2
	written.Status.Conditions[1].Status, written.Status.Conditions[1].Message = corev1.ConditionFalse, ""
	written.Status.Conditions[2] = batchv1.JobCondition{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue}
	patch, err := statusPatch(&read, written)
	fixtures.Put(t, err)
	patched, err := strategicpatch.StrategicMergePatch([]byte(stored), patch, batchv1.Job{})
	fixtures.Put(t, err)
	want := `{"metadata":{"name":"train","uid":"job-uid","resourceVersion":"7","annotations":{"mine":"1"}},
		"spec":{"scheduling":{"policy":"Gang"}},"status":{"nodes":["a"],"failed":2,"conditions":[
			{"type":"example.com/Other","status":"True","observedGeneration":3},{"type":"Suspended","status":"False","observedGeneration":4},
			{"type":"FailureTarget","status":"True","lastProbeTime":null,"lastTransitionTime":null}]}}`
	if !jsonpatch.Equal(patched, []byte(want)) {
		t.Errorf("the Job becomes\n%s, want\n%s", patched, want)
	}
}

// TestConflictingWrite checks that after a conflict, the Job is left to the next sync, which the change triggers.
func TestConflictingWrite(t *testing.T) {
	d := newTestJob(t, fixtures.ManagedJob(1))
	d.refuse("patch", "jobs", apierrors.NewConflict(schema.GroupResource{Resource: "jobs"}, "train", errors.New("changed")))
	d.syncs(t) // creates
	if again := d.syncs(t); again < 100*time.Millisecond {
		t.Errorf("the next look is in %s", again)
	}
	if told := strings.Join(d.recorded(), "\n"); strings.Contains(told, "Started") || strings.Contains(told, "JobStart") {
		t.Errorf("told is %q, though nothing was written", told)
	}
}

// TestInvalidStatus checks that a status rejected by the API server because of another client's changes is reported and retried later.
func TestInvalidStatus(t *testing.T) {
	d := newTestJob(t, fixtures.ManagedJob(1))
	d.refuse("patch", "jobs", apierrors.NewInvalid(jobKind, "train", nil))
	if _, err := d.sync(t.Context(), d.key); !apierrors.IsInvalid(err) {
		t.Errorf("the error is %v", err)
	}
	if told := d.recorded(); !slices.ContainsFunc(told, func(s string) bool { return strings.HasPrefix(s, "Warning InvalidStatus ") }) {
		t.Errorf("told is %q", told)
	}
}

// TestInvalidPolicy checks that a policy that does not compile blocks the Job and is reported.
func TestInvalidPolicy(t *testing.T) {
	job := fixtures.ManagedJob(1)
	rule := batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyActionFailJob}
	for i := range 200 { // the API defines only three statuses
		pattern := batchv1.PodFailurePolicyOnPodConditionsPattern{Type: "Ready", Status: corev1.ConditionStatus(strconv.Itoa(i))}
		rule.OnPodConditions = append(rule.OnPodConditions, pattern)
	}
	job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{rule}}
	d := newTestJob(t, job)
	if _, err := d.sync(t.Context(), d.key); err == nil {
		t.Error("there is no error")
	}
	if calls := d.calls(); len(calls) > 0 {
		t.Errorf("calls are %v", calls)
	}
	if told := d.recorded(); len(told) != 1 || !strings.HasPrefix(told[0], "Warning InvalidPodFailurePolicy ") {
		t.Errorf("told is %q", told)
	}
}

// TestDeletionIsOfOnePod checks that a pod is deleted by UID, because another pod may have its name by the time of the call, and that no
// event is recorded for a pod that no longer exists.
func TestDeletionIsOfOnePod(t *testing.T) {
	d := newTestJob(t, fixtures.ManagedJob(1))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "first"}}
	w := &work{reconciler: d.reconciler, state: d.states.of(plan.Owner{NamespacedName: d.key, UID: "job-uid"}), job: fixtures.ManagedJob(1)}
	if err := w.deletePod(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	var deletions int
	for _, action := range d.api.Actions() {
		deletion, ok := action.(clienttesting.DeleteActionImpl)
		if !ok {
			continue
		}
		deletions++
		if p := deletion.DeleteOptions.Preconditions; p == nil || p.UID == nil || *p.UID != "first" {
			t.Errorf("the preconditions are %v", p)
		}
	}
	if deletions != 1 {
		t.Errorf("%d deletions", deletions)
	}
	if told := d.recorded(); len(told) > 0 || w.changed.Load() {
		t.Errorf("told is %q", told)
	}
}

// TestDismissal checks that a dismissed pod is deleted only if it could be released, and that a pod that has changed is read again, because
// it may have ended.
func TestDismissal(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile        func(*corev1.Pod) // nil if it has not changed
		patches, deletes int
	}{
		"unchanged":             {nil, 1, 1},
		"failed meanwhile":      {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, 1, 0},
		"succeeded meanwhile":   {func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, 1, 0},
		"deleted by somebody":   {func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(time.Unix(1e9, 0))) }, 2, 1},
		"another of its name":   {func(p *corev1.Pod) { p.UID = "other" }, 1, 0},
		"it has become running": {func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestJob(t, fixtures.ManagedJob(1))
			d.syncs(t)
			d.syncs(t)
			d.suspend(t)
			d.answer("patch", "pods", func(a clienttesting.Action) (apiruntime.Object, error) {
				patch, _ := a.(clienttesting.PatchAction)
				if test.meanwhile != nil && !strings.Contains(string(patch.GetPatch()), `"resourceVersion":"200"`) {
					return nil, apierrors.NewConflict(podResource, "x", errors.New("changed"))
				}
				return podAt(patch.GetName(), 201), nil
			})
			if test.meanwhile != nil {
				d.answer("get", "pods", func(a clienttesting.Action) (apiruntime.Object, error) {
					get, _ := a.(clienttesting.GetAction)
					changed := podAt(get.GetName(), 200)
					changed.UID, changed.Finalizers = "", []string{batchv1.JobTrackingFinalizer} // the fake client gives no UIDs
					test.meanwhile(changed)
					return changed, nil
				})
			}
			d.calls()
			d.syncs(t)
			calls := d.calls()
			if countCalls(calls, "patch pods") != test.patches || countCalls(calls, "delete pods") != test.deletes {
				t.Errorf("calls are %v, want %d patches and %d deletions", calls, test.patches, test.deletes)
			}
		})
	}
}

// suspend makes the caches return the Job as suspended.
func (d *testJob) suspend(t *testing.T) {
	t.Helper()
	suspended, err := d.api.BatchV1().Jobs("ns").Get(t.Context(), "train", metav1.GetOptions{})
	fixtures.Put(t, err)
	suspended.Spec.Suspend, suspended.ResourceVersion = new(true), "100"
	fixtures.Put(t, d.Caches.Jobs.Add(suspended))
}

// TestBatchPeriod checks that calls stop after a batch period, because it is time for a new sync.
func TestBatchPeriod(t *testing.T) {
	d := newTestJob(t, fixtures.ManagedJob(10))
	d.answer("create", "pods", func(clienttesting.Action) (apiruntime.Object, error) {
		d.now.SetTime(d.now.Now().Add(300 * time.Millisecond))
		return nil, nil //nolint:nilnil // as it is
	})
	d.syncs(t)
	if calls := d.calls(); countCalls(calls, "create pods") != 4 {
		t.Errorf("calls are %v", calls)
	}
}
