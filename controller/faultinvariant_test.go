package controller_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

// invariants are checked after every change of a Job and its pods. They do not include the rules for the status, because the in-memory API
// server rejects invalid ones, and each rejected write is a violation too.
type invariants struct {
	job  *batchv1.Job
	pods map[string]*corev1.Pod
	// parallelism is the highest value of the Job's parallelism.
	parallelism int
	// mustFail are the pods that must have been counted as failed in the end, and mayFail the pods that may have been.
	mustFail, mayFail map[types.UID]bool
	// mustSucceed are the slots that must be completed in the end, and maySucceed the slots that may be.
	mustSucceed, maySucceed map[int]bool
	// created counts the creations of pods by name, and thus by attempt.
	created map[string]int
	ends    int
	changes int
	// slots are the pods of each slot by name, and active is the total number of active pods.
	slots  map[int]map[string]*corev1.Pod
	active int

	spares  bool // a rule that ends a living pod ignores it
	policed bool // a custom policy may ignore failures that the Job's own rules would count
	hostile bool // pods are tampered with, so neither they nor the counters can be checked
	calm    bool // only the controller deletes pods, so none is created twice
	retried *retried

	history    []string
	violations []string
}

func newInvariants() *invariants {
	return &invariants{
		pods: map[string]*corev1.Pod{}, mustFail: map[types.UID]bool{}, mayFail: map[types.UID]bool{},
		mustSucceed: map[int]bool{}, maySucceed: map[int]bool{}, created: map[string]int{}, slots: map[int]map[string]*corev1.Pod{},
	}
}

func (v *invariants) violatedf(format string, args ...any) {
	v.violations = append(v.violations, fmt.Sprintf(format, args...))
}

func (v *invariants) logf(format string, args ...any) {
	v.history = append(v.history, fmt.Sprintf(format, args...))
}

func (v *invariants) String() string {
	return strings.Join(v.violations, "\n") + "\n" + strings.Join(v.history, "\n")
}

// observe is called with every change.
func (v *invariants) observe(c memoryapi.Change) {
	v.changes++
	switch {
	case is[*batchv1.Job](c):
		oldJob, job := both[*batchv1.Job](c)
		v.observeJob(c.Version, oldJob, job)
	case is[*corev1.Pod](c):
		old, pod := both[*corev1.Pod](c)
		v.observePod(c.Version, old, pod)
	}
}

func is[T memoryapi.Object](c memoryapi.Change) bool {
	_, isNew := c.New.(T)
	_, isOld := c.Old.(T)
	return isNew || isOld
}

func both[T memoryapi.Object](c memoryapi.Change) (before, after T) {
	before, _ = c.Old.(T)
	after, _ = c.New.(T)
	return before, after
}

func (v *invariants) observeJob(version int64, old, job *batchv1.Job) {
	if job == nil {
		v.logf("%d: job gone", version)
		v.job = nil
		return
	}
	v.logf("%d: job parallelism %d, suspend %v: %s", version, *job.Spec.Parallelism, *job.Spec.Suspend, statusText(job))
	v.job = job
	if n := job.Spec.Completions; n != nil { // forget slots that were removed
		maps.DeleteFunc(v.mustSucceed, func(slot int, _ bool) bool { return slot >= int(*n) })
	}
	v.parallelism = max(v.parallelism, int(*job.Spec.Parallelism))
	if old == nil {
		return
	}
	v.retried.observeJob(old, job)
	v.monotone(old, job)
	if !v.hostile {
		v.counters(job)
	}
}

func statusText(job *batchv1.Job) string {
	if job == nil {
		return "gone"
	}
	text, err := json.Marshal(job.Status)
	return fmt.Sprintf("%s %v", text, err)
}

// monotone checks that counters never decrease and that nothing changes after the end.
func (v *invariants) monotone(old, job *batchv1.Job) {
	before, after := old.Status, job.Status
	elastic := ptr.Deref(job.Spec.Completions, -1) == *job.Spec.Parallelism
	if after.Failed < before.Failed || after.Succeeded < before.Succeeded && !elastic {
		v.violatedf("counters go back: %s", statusText(job))
	}
	switch {
	case ended(old) && !equality.Semantic.DeepEqual(before, after):
		v.violatedf("the status changes after the end: %s", statusText(job))
	case !ended(old) && ended(job):
		v.ends++
	}
	if v.ends > 1 {
		v.violatedf("the job ends %d times", v.ends)
	}
	for _, c := range before.Conditions {
		if final := c.Type != batchv1.JobSuspended && c.Type != plan.LedgerCondition && c.Status == corev1.ConditionTrue; final && !slices.Contains(after.Conditions, c) {
			v.violatedf("condition %s does not stay", c.Type)
		}
	}
	if after.Active > int32(max(v.parallelism, int(before.Active))) {
		v.violatedf("status.active is %d, parallelism was at most %d", after.Active, v.parallelism)
	}
}

func ended(job *batchv1.Job) bool {
	return isTrue(job, batchv1.JobComplete) || isTrue(job, batchv1.JobFailed)
}

func isTrue(job *batchv1.Job, kind batchv1.JobConditionType) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == kind && c.Status == corev1.ConditionTrue
	})
}

// counters checks the counters against the pods: at most the pods that may be counted, and, when the Job ends, all pods that must be.
func (v *invariants) counters(job *batchv1.Job) {
	failed, succeeded := int(job.Status.Failed), int(job.Status.Succeeded)
	if failed > len(v.mayFail) {
		v.violatedf("status.failed is %d, only %d pods may count", failed, len(v.mayFail))
	}
	if succeeded > len(v.maySucceed) {
		v.violatedf("status.succeeded is %d, only %d slots may count", succeeded, len(v.maySucceed))
	}
	if !ended(job) {
		return
	}
	if failed < len(v.mustFail) {
		v.violatedf("the job ends with status.failed %d, %d pods must count", failed, len(v.mustFail))
	}
	if succeeded < len(v.mustSucceed) {
		v.violatedf("the job ends with status.succeeded %d, %d slots must count", succeeded, len(v.mustSucceed))
	}
}

func (v *invariants) observePod(version int64, old, pod *corev1.Pod) {
	if pod == nil {
		v.logf("%d: %s gone", version, old.Name)
		delete(v.pods, old.Name)
		v.alive(old, true)
		return
	}
	if !v.hostile && metav1.GetControllerOfNoCopy(pod) == nil {
		return // not created by the controller
	}
	v.logf("%d: %s %s, deleted %v, finalizers %d", version, pod.Name, pod.Status.Phase, pod.DeletionTimestamp != nil, len(pod.Finalizers))
	v.pods[pod.Name] = pod
	v.record(pod)
	if old == nil {
		v.create(pod)
	}
	v.alive(pod, false)
}

// create records the creation of a pod.
func (v *invariants) create(pod *corev1.Pod) {
	slot, attempt, made := slotAndAttempt(pod)
	if !made || v.hostile {
		return
	}
	if v.created[pod.Name]++; v.calm && v.created[pod.Name] > 1 {
		v.violatedf("attempt %d at slot %d is created twice", attempt, slot)
	}
	if v.job != nil && ended(v.job) {
		v.violatedf("attempt %d at slot %d is created after the end", attempt, slot)
	}
	v.retried.check(v, pod, slot, attempt)
	for _, other := range v.slots[slot] {
		if v.job != nil && !terminal(other) && ptr.Deref(v.job.Spec.PodReplacementPolicy, "") == batchv1.Failed && other.Name != pod.Name {
			v.violatedf("attempt %d at slot %d is created when another one has not ended", attempt, slot)
		}
		if _, a, _ := slotAndAttempt(other); a > attempt {
			v.violatedf("attempt %d at slot %d is created when attempt %d is there", attempt, slot, a)
		}
	}
}

// record records how a pod must and may be counted.
func (v *invariants) record(pod *corev1.Pod) {
	slot, attempt, made := slotAndAttempt(pod)
	if !made || !held(pod) || v.job == nil || ended(v.job) {
		return
	}
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		v.maySucceed[slot] = true
		if completions := v.job.Spec.Completions; !v.mayFail[pod.UID] && (completions == nil || slot < int(*completions)) {
			v.mustSucceed[slot] = true
		}
	case pod.Status.Phase == corev1.PodFailed:
		v.retried.fails(pod, slot, attempt)
		switch {
		case v.policed && (ignored(pod) || v.spares && endedByRule(pod)):
			v.mayFail[pod.UID] = true // or not, until the budget is used up
		case v.job.Spec.PodFailurePolicy == nil || !ignored(pod):
			v.mustFail[pod.UID], v.mayFail[pod.UID] = true, true
		}
	case pod.DeletionTimestamp != nil:
		v.mayFail[pod.UID] = true
	}
}

// alive updates the pods of a slot, and checks that a slot never has two active pods and that parallelism is not exceeded.
func (v *invariants) alive(pod *corev1.Pod, gone bool) {
	slot, _, made := slotAndAttempt(pod)
	if !made {
		return
	}
	pods := v.slots[slot]
	if pods == nil {
		pods = map[string]*corev1.Pod{}
		v.slots[slot] = pods
	}
	if before := pods[pod.Name]; before != nil && active(before) {
		v.active--
	}
	delete(pods, pod.Name)
	if !gone {
		pods[pod.Name] = pod
	}
	if !gone && active(pod) {
		v.active++
	}
	if v.hostile {
		return
	}
	living := slices.Sorted(maps.Keys(pods))
	if living = slices.DeleteFunc(living, func(name string) bool { return !active(pods[name]) }); len(living) > 1 {
		v.violatedf("slot %d has active pods %v", slot, living)
	}
	if v.active > v.parallelism {
		v.violatedf("%d pods are active, parallelism was at most %d", v.active, v.parallelism)
	}
}
