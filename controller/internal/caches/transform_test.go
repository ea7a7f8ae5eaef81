package caches

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
)

// fullPod returns a pod with all fields that pods have.
func fullPod(phase corev1.PodPhase, deleted *metav1.Time) *corev1.Pod {
	now := metav1.Now()
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			DeletionTimestamp: deleted, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: v1alpha1.JobController}},
			Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: "{}", batchv1.JobCompletionIndexAnnotation: "3"},
			Labels:      map[string]string{"app": "train", batchv1.ControllerUidLabel: "uid"},
			OwnerReferences: []metav1.OwnerReference{
				{Kind: "Set", Name: "other"}, {APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: "uid", Controller: new(true)},
			},
		},
		Spec: corev1.PodSpec{
			NodeName: "node", RestartPolicy: corev1.RestartPolicyNever, Tolerations: []corev1.Toleration{{Key: "gpu"}},
			InitContainers: []corev1.Container{{Name: "init"}, {Name: "sidecar", Image: "log", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}},
			Containers:     []corev1.Container{{Name: "main", Image: "main", Env: []corev1.EnvVar{{Name: "A"}}}},
		},
		Status: corev1.PodStatus{
			Phase: phase, Message: "a message",
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionTrue, Message: "ready", LastTransitionTime: now},
				{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: now},
				{Type: "example.com/Stuck", Status: corev1.ConditionTrue, Reason: "Image", Message: "Pod / matching Count rule r of PodFailurePolicy p: why"},
			},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "main", Image: "main", ImageID: "sha256:1", RestartCount: 2, Resources: &corev1.ResourceRequirements{},
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Message: "a message", FinishedAt: now}},
			}},
		},
	}
}

var nearly = custom.Reads{Pod: cel.NewFields("PodSpec.nodeName"), Job: cel.NewFields("JobSpec.completions")}

// TestTrimPod checks that a pod on which rules may be evaluated has the fields read by rules, that each pod has the fields read by the Plan
// and podFailurePolicies, and that the caches know which pods lack fields.
func TestTrimPod(t *testing.T) {
	now := metav1.Now()
	for _, test := range []struct {
		phase   corev1.PodPhase
		deleted *metav1.Time
		on      corev1.PodPhase // phase covered by rules in effect
		judged  bool
	}{
		{corev1.PodPending, nil, corev1.PodFailed, true},
		{corev1.PodPending, &now, corev1.PodFailed, true},
		{corev1.PodRunning, nil, corev1.PodFailed, false},
		{corev1.PodRunning, nil, v1alpha1.PhaseTerminating, false},
		{corev1.PodRunning, nil, corev1.PodRunning, true},
		{corev1.PodRunning, &now, corev1.PodFailed, true},
		{corev1.PodSucceeded, nil, corev1.PodRunning, false},
		{corev1.PodSucceeded, &now, corev1.PodRunning, false},
		{corev1.PodFailed, nil, corev1.PodFailed, true},
		{corev1.PodUnknown, nil, corev1.PodFailed, true},
	} {
		for name, reads := range map[string]custom.Reads{"nothing": custom.NewReads(), "nearly nothing": nearly, "everything": fixtures.Everything} {
			caching := newCaching(true)
			caching.keep(reads, test.on)
			pod, full := fullPod(test.phase, test.deleted), fullPod(test.phase, test.deleted)
			caching.trimPod(pod)
			if caching.lacksPod(pod) {
				t.Errorf("%s, deleted %v: what rules read is dropped, which is %s", test.phase, test.deleted != nil, name)
			}
			caching.keep(fixtures.Everything, test.on) // as when the pod is delivered again
			caching.trimPod(pod)
			if whole := name == "everything"; caching.lacksPod(pod) != (test.judged && !whole) {
				t.Errorf("%s, deleted %v: of rules that read %s, a pod lacks something: %t", test.phase, test.deleted != nil, name, whole)
			} else if !whole || !test.judged {
				expectSkeleton(t, pod, test.judged)
				continue
			}
			full.ManagedFields = nil
			if diff := cmp.Diff(full, Snapshot(&batchv1.Job{}, snapshot.Rules{}, now.Time, snapshot.Pod{Object: pod}).Pods[0].Object, cmpopts.EquateApproxTime(time.Second)); diff != "" {
				t.Errorf("%s, deleted %v (-want +got):\n%s", test.phase, test.deleted != nil, diff)
			}
		}
	}
}

func expectSkeleton(t *testing.T, pod *corev1.Pod, judged bool) {
	t.Helper()
	want := fullPod(pod.Status.Phase, pod.DeletionTimestamp)
	delete(want.Annotations, corev1.LastAppliedConfigAnnotation)
	delete(want.Labels, "app")
	want.OwnerReferences, want.ManagedFields = want.OwnerReferences[1:], pod.ManagedFields
	want.Spec.InitContainers = want.Spec.InitContainers[1:]
	want.Spec.InitContainers[0].Image = ""
	want.Spec.Containers, want.Spec.Tolerations = nil, nil
	s := &want.Status
	s.Message, s.Conditions[0].Message = "", ""
	if !judged {
		s.Conditions = slices.Delete(s.Conditions, 1, 2)
	}
	c := &s.ContainerStatuses[0]
	c.Image, c.ImageID, c.Resources, c.State.Terminated.Message = "", "", nil, ""
	if diff := cmp.Diff(want, pod, cmpopts.EquateApproxTime(time.Minute)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", pod.Status.Phase, diff)
	}
}

func TestTrimJob(t *testing.T) {
	for _, test := range []struct {
		name    string
		job     *batchv1.Job
		observe bool
		reads   custom.Reads
		whole   bool
	}{
		{"managed", fixtures.OwnJob(nil), false, custom.NewReads(), true},
		{"observed", fixtures.OthersJob(fixtures.FailJobOn(1)), true, custom.NewReads(), false},
		{"observed by policies that read little", fixtures.OthersJob(fixtures.FailJobOn(1)), true, nearly, false},
		{"observed by policies that read all", fixtures.OthersJob(fixtures.FailJobOn(1)), true, fixtures.Everything, true},
		{"of no interest", fixtures.OthersJob(fixtures.FailJobOn(1)), false, fixtures.Everything, false},
		{"managed and large", jobWithLargeTemplate(), false, custom.NewReads(), false},
		{"managed, large and read by policies", jobWithLargeTemplate(), false, fixtures.Everything, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			caching := newCaching(test.observe)
			caching.keep(test.reads)
			test.job.Spec.Template.Spec.NodeName = "node"
			test.job.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: v1alpha1.JobController}}
			policy := test.job.Spec.PodFailurePolicy
			caching.trimJob(test.job)
			if caching.jobs.lacks(test.job) {
				t.Error("what rules read is dropped")
			}
			caching.jobs.keep(fixtures.Everything.Job)
			caching.trimJob(test.job)
			if whole := test.job.Spec.Template.Spec.NodeName != ""; whole != test.whole {
				t.Errorf("the template is %+v, managed fields are %v", test.job.Spec.Template, test.job.ManagedFields)
			}
			if asked := plan.Managed(test.job) || test.observe; asked && caching.jobs.lacks(test.job) == test.whole {
				t.Errorf("rules that read all may be asked about it: %t", test.whole)
			}
			if test.job.Spec.PodFailurePolicy != policy {
				t.Error("the podFailurePolicy is gone")
			}
		})
	}
}

// jobWithLargeTemplate returns a Job with a template that is not cached.
func jobWithLargeTemplate() *batchv1.Job {
	job := fixtures.OwnJob(fixtures.FailJobOn(1))
	job.Spec.Template.Annotations = map[string]string{"text": strings.Repeat("x", maxTemplate)}
	return job
}

// TestTrimLargeJob checks that the caches keep all fields of a large managed Job that are written back with the status.
func TestTrimLargeJob(t *testing.T) {
	job := jobWithLargeTemplate()
	job.GenerateName, job.Annotations, job.Finalizers = "large-", map[string]string{"a": "b"}, []string{"foregroundDeletion"}
	want := job.DeepCopy()
	want.Spec.Template = corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: job.Spec.Template.Spec.RestartPolicy}}
	newCaching(false).trimJob(job)
	job.ManagedFields = nil
	if diff := cmp.Diff(want, job); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTrimPairs checks the limit for labels and annotations, because a pair of two characters needs fifty times as much memory.
func TestTrimPairs(t *testing.T) {
	const name, ours = "job-name", "podverdict.io/ledger"
	for count, kept := range map[int]bool{MaxPairs: true, MaxPairs + 1: false} {
		pairs := map[string]string{name: "x", ours: "y"}
		for i := range count - len(pairs) {
			pairs[strconv.Itoa(i)] = ""
		}
		caching := newCaching(true)
		caching.keep(fixtures.Everything)
		job, pod := fixtures.OwnJob(nil), fullPod(corev1.PodFailed, nil)
		job.Labels, pod.Annotations, pod.Labels = pairs, maps.Clone(pairs), nil
		caching.trimJob(job)
		caching.trimPod(pod)
		for what, o := range map[string]struct {
			pairs map[string]string
			lacks bool
		}{
			"Job": {job.Labels, Excessive(job)}, "pod": {pod.Annotations, caching.lacksPod(pod)},
		} {
			if _, found := o.pairs[name]; found != kept || o.pairs[ours] != "y" || o.lacks == kept {
				t.Errorf("a %s with %d labels and annotations: %d are kept, it lacks some: %t", what, count, len(o.pairs), o.lacks)
			}
		}
	}
}

// TestKeepOfPodsThatRun checks that the fields of running pods that rules read are kept only while there are rules on Running, and that
// such rules are not evaluated on a pod before it has been delivered again.
func TestKeepOfPodsThatRun(t *testing.T) {
	caching := newCaching(true)
	caching.keep(nearly, corev1.PodFailed)
	before := fullPod(corev1.PodRunning, nil)
	caching.trimPod(before)
	for _, on := range []corev1.PodPhase{corev1.PodRunning, corev1.PodFailed, corev1.PodRunning} {
		caching.pods.wanted = false
		caching.keep(nearly, on)
		caching.trimPod(before)
		again := fullPod(corev1.PodRunning, nil)
		caching.trimPod(again)
		running := on == corev1.PodRunning
		if !caching.pods.wanted || caching.lacksPod(before) != running || caching.lacksPod(again) {
			t.Errorf("rules on %s: a new list %t, lacks %t, lacks when it comes again %t", on, caching.pods.wanted, caching.lacksPod(before), caching.lacksPod(again))
		}
		if kept := again.Status.Conditions; len(kept) > 2 != running {
			t.Errorf("rules on %s: %d conditions are kept", on, len(kept))
		}
	}
}

// TestTrimKnowsItsOwnMarks checks that clients cannot prevent an object from being trimmed by using podverdict's name in its managed
// fields.
func TestTrimKnowsItsOwnMarks(t *testing.T) {
	caching := newCaching(true)
	pod := fullPod(corev1.PodFailed, nil)
	pod.ManagedFields = slices.Clone(caching.pods.keeping.Load().mark)
	caching.trimPod(pod)
	expectSkeleton(t, pod, true)
}

// TestKeepDropsNothing checks that fields read by earlier rules are kept when new rules are added, because a pod is judged by the rules
// that were in effect when it failed.
func TestKeepDropsNothing(t *testing.T) {
	caching := newCaching(true)
	caching.keep(custom.Reads{Pod: cel.NewFields("PodStatus.message"), Job: cel.Fields{}})
	caching.keep(nearly)
	pod := fullPod(corev1.PodFailed, nil)
	caching.trimPod(pod)
	if pod.Status.Message == "" {
		t.Error("the message is dropped")
	}
}
