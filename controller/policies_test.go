package controller_test

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

const (
	failJob = batchv1.PodFailurePolicyActionFailJob
	ignore  = batchv1.PodFailurePolicyActionIgnore
	count   = batchv1.PodFailurePolicyActionCount
)

// one returns a managed Job with one pod at a time.
func one() *batchv1.Job { return managed(1, completions(1)) }

// TestCustomPolicyIsEnforced checks that a bound policy decides, and that its message is reported.
func TestCustomPolicyIsEnforced(t *testing.T) {
	oom := rule("oom", onCode3, failJob)
	oom.Reason, oom.MessageExpression = "OutOfMemory", "'exit code ' + string(pod.failedContainers()[0].exitCode)"
	inWorld(t, func(w *world) { w.apply(customPolicy("gpu", oom), bind("gpu")) }, func(w *world) {
		w.run(one())
		w.fail(1)
		w.expectJob("failed 1")
		pod := w.fail(3)
		w.expectJob("failed 2, PodFailurePolicy: Pod ns/" + pod.Name + " matching FailJob rule oom of PodFailurePolicy gpu: OutOfMemory: exit code 3")
		w.expectNotes("Pod", "Warning PodFailureVerdict: FailJob by rule oom of gpu: OutOfMemory: exit code 3")
		w.expectSeries("custom_policy_verdicts_total", map[string]float64{"action=FailJob,class=,mode=enforce,policy=gpu,rule=oom": 1})
		w.expectSeries("custom_policies", map[string]float64{"ready=true": 1})
		w.expectSeries("custom_policy_bindings", map[string]float64{"ready=true": 1})
		w.expectReady(w.server.Policy("gpu"), "True Compiled: every expression compiles")
		w.expectReady(w.server.Binding("gpu"), "True PolicyFound: PodFailurePolicy gpu compiles")
		w.expectNotes("PodFailurePolicy")
		if got := w.server.Policy("gpu").Status.Rules; got != 1 {
			t.Errorf("the status says that there are %d rules", got)
		}
	})
}

// TestCustomPolicyChanges checks that changes of policies apply immediately, to pods that fail afterwards.
func TestCustomPolicyChanges(t *testing.T) {
	inWorld(t, nothing, func(w *world) {
		w.run(one())
		w.fail(3)
		w.expectJob("failed 1")
		w.apply(customPolicy("gpu", rule("r", onCode3, ignore)), bind("gpu"))
		w.expectJob("failed 1")
		w.fail(3)
		w.expectJob("failed 1")
		w.apply(customPolicy("gpu", rule("r", onCode3, failJob)))
		w.pass(time.Hour)
		w.expectJob("failed 1") // earlier failures have no effect
		w.apply(customPolicy("gpu", rule("r", onCode3, count)))
		w.pass(time.Hour)
		w.expectJob("failed 1") // and ignored failures are not counted later
		w.server.Delete(memoryapi.Bindings, "gpu")
		w.fail(3)
		w.expectJob("failed 2")
	})
}

// TestPolicyComesAndGoes checks that a deleted policy is not in effect and that its series are removed. A binding waits for its policy.
func TestPolicyComesAndGoes(t *testing.T) {
	inWorld(t, func(w *world) { w.apply(bind("gpu")) }, func(w *world) {
		w.run(one())
		w.expectReady(w.server.Binding("gpu"), "False PolicyNotFound: there is no PodFailurePolicy gpu")
		w.fail(3)
		w.expectJob("failed 1")
		w.apply(customPolicy("gpu", rule("r", onCode3, ignore)))
		w.expectReady(w.server.Binding("gpu"), "True PolicyFound: PodFailurePolicy gpu compiles")
		w.fail(3)
		w.expectJob("failed 1")
		w.expectSeries("custom_policy_verdicts_total", map[string]float64{"action=Ignore,class=,mode=enforce,policy=gpu,rule=r": 1})
		s := rule("s", onCode3, ignore)
		w.apply(customPolicy("gpu", s))
		w.expectSeries("custom_policy_verdicts_total", map[string]float64{})
		w.fail(3)
		w.expectSeries("custom_policy_verdicts_total", map[string]float64{"action=Ignore,class=,mode=enforce,policy=gpu,rule=s": 1})
		s.Class = "flaky"
		w.apply(customPolicy("gpu", s))
		w.expectSeries("custom_policy_verdicts_total", map[string]float64{})
		w.fail(3)
		w.expectSeries("custom_policy_verdicts_total", map[string]float64{"action=Ignore,class=flaky,mode=enforce,policy=gpu,rule=s": 1})
		w.server.Delete(memoryapi.Policies, "gpu")
		w.pass(time.Second)
		w.expectReady(w.server.Binding("gpu"), "False PolicyNotFound: there is no PodFailurePolicy gpu")
		w.expectSeries("custom_policy_verdicts_total", map[string]float64{})
		w.fail(3)
		w.expectJob("failed 2")
	})
}

// TestPoliciesAreNotInstalled checks that the kinds need not be installed. They are discovered when installed, and forgotten when removed.
func TestPoliciesAreNotInstalled(t *testing.T) {
	kinds := []string{memoryapi.Policies, memoryapi.Bindings}
	inWorld(t, func(w *world) { w.server.Remove(kinds...) }, func(w *world) {
		w.run(one())
		w.fail(3)
		w.expectJob("failed 1")
		for range 2 {
			w.server.Serve(kinds...)
			w.apply(customPolicy("gpu", rule("r", onCode3, ignore)), bind("gpu"))
			w.pass(time.Minute)
			w.expectReady(w.server.Binding("gpu"), "True PolicyFound: PodFailurePolicy gpu compiles")
			before := w.server.Job(namespace, jobName).Status.Failed
			w.fail(3)
			w.expectJob(fmt.Sprintf("failed %d", before))
			w.server.Remove(kinds...)
			w.pass(time.Minute)
			w.fail(3)
			w.expectJob(fmt.Sprintf("failed %d", before+1))
		}
	})
}

// TestNamespaceMoves checks that changed labels of a namespace apply to its Jobs.
func TestNamespaceMoves(t *testing.T) {
	labeled := func(team string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{"team": team, corev1.LabelMetadataName: namespace}}}
	}
	policies := func(w *world) {
		w.apply(labeled("web"), customPolicy("gpu", rule("r", onCode3, ignore)), bind("gpu", inNamespaces("team", "ml")))
	}
	inWorld(t, policies, func(w *world) {
		w.run(one())
		w.fail(3)
		w.expectJob("failed 1")
		w.apply(labeled("ml"))
		w.fail(3)
		w.expectJob("failed 1")
		w.apply(labeled("web"))
		w.fail(3)
		w.expectJob("failed 2")
	})
}

// TestNamespaceIsLate checks that a Job waits while its namespace is unknown.
func TestNamespaceIsLate(t *testing.T) {
	policies := func(w *world) {
		w.apply(customPolicy("gpu", rule("r", onCode3, ignore)), bind("gpu", inNamespaces("team", "ml")))
	}
	inWorld(t, policies, func(w *world) {
		w.server.Hold(memoryapi.Namespaces)
		w.apply(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "late", Labels: map[string]string{"team": "ml"}}})
		job := one()
		job.Namespace = "late"
		w.run(job)
		if n := len(w.server.Pods()); n != 0 {
			t.Errorf("%d pods run in a namespace that is not known", n)
		}
		w.server.Release(memoryapi.Namespaces)
		w.pass(time.Minute)
		w.fail(3)
		if s := w.server.Job("late", jobName).Status; s.Failed != 0 || s.Active != 1 {
			t.Errorf("the status is %+v", s)
		}
	})
}

// TestAuditedPolicy checks that the verdict of an audited policy is reported if it differs, and does not decide.
func TestAuditedPolicy(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(customPolicy("gpu", rule("r", onCode3, ignore)), bind("gpu"))
		w.apply(customPolicy("trial", rule("stop", "attempt > 1", failJob)), bind("trial", audits))
	}, func(w *world) {
		w.run(one())
		w.fail(1)
		w.expectNotes("Pod")
		w.fail(1)
		w.fail(3)
		w.expectJob("failed 2")
		w.expectNotes("Pod",
			"Normal PodFailureVerdict: Count: no rule matches; would: FailJob by rule stop of trial; nobody carries it out: the binding has mode Audit",
			"Normal PodFailureVerdict: Ignore by rule r of gpu")
		w.expectSeries("custom_policy_verdicts_total", map[string]float64{
			"action=FailJob,class=,mode=audit,policy=trial,rule=stop": 1, "action=Ignore,class=,mode=enforce,policy=gpu,rule=r": 1,
		})
	})
}

// TestBoundPoliciesOfOthersJobs checks that for other controllers' Jobs, the verdicts of bound policies are reported, based on the complete
// pod and Job.
func TestBoundPoliciesOfOthersJobs(t *testing.T) {
	gpu := customPolicy("gpu", rule("node", "pod.spec.tolerations.exists(t, t.key == 'gpu') && attempt == 2", ignore))
	gpu.Spec.MatchConditions = []v1alpha1.MatchCondition{{Name: "c", Expression: "job.spec.template.spec.containers[0].image == 'main'"}}
	inWorld(t, func(w *world) { w.apply(gpu, bind("gpu", audits)) }, func(w *world) {
		job := managed(1, completions(1), policy)
		job.Spec.ManagedBy = nil
		created, err := w.server.CreateJob(job)
		if err != nil {
			t.Fatal(err)
		}
		for i, code := range []int32{codeFailJob, codeFailJob, 1} {
			pod := nativePod(created, fmt.Sprintf("train-%d", i))
			pod.Spec.Tolerations = []corev1.Toleration{{Key: "gpu"}}
			if pod, err = w.server.CreatePod(pod); err != nil {
				t.Fatal(err)
			}
			w.move(pod)
			w.pass(time.Second)
			w.end(pod, code)
			w.pass(time.Second)
		}
		w.expectNotes("Pod",
			"Normal PodFailureVerdict: Count: no rule matches: rule 0: the pod has no condition DisruptionTarget=True; rule 1: no container has failed with an exit code in [3]; rule 2: no container has failed with an exit code in [9]; rule 3: no container has failed with an exit code in [42]",
			"Warning PodFailureVerdict: FailJob by rule 3: container main exited with 42",
			"Warning PodFailureVerdict: FailJob by rule 3: container main exited with 42; would: Ignore by rule node of gpu; nobody carries it out: the binding has mode Audit, and the Job is run by kubernetes.io/job-controller")
		w.expectSeries("custom_policy_verdicts_total", map[string]float64{"action=Ignore,class=,mode=audit,policy=gpu,rule=node": 1})
	})
}

// TestNewPolicySeesOldObjects checks that a policy sees all fields it reads of older Jobs and pods, although the caches had dropped fields
// that were not read then.
func TestNewPolicySeesOldObjects(t *testing.T) {
	t.Run("the first one", func(t *testing.T) { testNewPolicy(t, nothing) })
	t.Run("one beside another that reads less", func(t *testing.T) {
		less := customPolicy("less", rule("r", "pod.metadata.name == job.metadata.name", ignore))
		less.Spec.MatchConditions = []v1alpha1.MatchCondition{{Name: "c", Expression: "job.metadata.name != ''"}}
		testNewPolicy(t, func(w *world) { w.apply(less, bind("less")) })
	})
}

func testNewPolicy(t *testing.T, prepare func(*world)) {
	t.Helper()
	const image = "containers[0].image == 'main'"
	inWorld(t, prepare, func(w *world) {
		job := managed(1, completions(1), policy)
		job.Spec.ManagedBy = nil
		created, err := w.server.CreateJob(job)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"fails", "waits"} {
			if _, err := w.server.CreatePod(nativePod(created, name)); err != nil {
				t.Fatal(err)
			}
		}
		w.pass(time.Minute)
		waits := rule("waits", "pod.metadata.name == 'waits' && pod.spec."+image, ignore)
		waits.Phase, waits.Reason = corev1.PodPending, "Late"
		gpu := customPolicy("gpu", waits, rule("fails", "pod.spec."+image, ignore))
		gpu.Spec.MatchConditions = []v1alpha1.MatchCondition{{Name: "c", Expression: "job.spec.template.spec." + image}}
		w.apply(gpu, bind("gpu", func(s *v1alpha1.PodFailurePolicyBindingSpec) { s.LivingPods = v1alpha1.LivingPhases }))
		w.pass(time.Minute)
		for _, pod := range w.server.Pods() {
			if deleted := pod.DeletionTimestamp != nil; deleted != (pod.Name == "waits") {
				t.Errorf("the pod %s is deleted: %t", pod.Name, deleted)
			}
			if pod.Name == "fails" {
				w.end(pod, codeFailJob)
			}
		}
		w.pass(time.Minute)
		w.expectNotes("Pod", "Warning PodFailureVerdict: FailJob by rule 3: container main exited with 42; would: Ignore by rule fails of gpu; nobody carries it out: the Job is run by kubernetes.io/job-controller")
	})
}

// nativePod returns a pod as created by kube-controller-manager.
func nativePod(job *batchv1.Job, name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: *job.Spec.Template.ObjectMeta.DeepCopy(), Spec: *job.Spec.Template.Spec.DeepCopy()}
	pod.Name, pod.Namespace = name, job.Namespace
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	return pod
}

// TestChangesWakeJobs checks that Jobs are synced when a policy is added, or when their namespace is labeled, even if their pods do not
// change. A match condition that cannot be evaluated disables its policy, and is reported once.
func TestChangesWakeJobs(t *testing.T) {
	gpu := customPolicy("gpu", rule("r", onCode3, ignore))
	gpu.Spec.MatchConditions = []v1alpha1.MatchCondition{{Name: "c", Expression: "job.metadata.labels['team'] == 'ml'"}}
	other := gpu.DeepCopy()
	other.Name = "other"
	const told = "Warning MatchConditionFailed: PodFailurePolicy %s: spec.matchConditions[0].expression: no such key: labels"
	inWorld(t, nothing, func(w *world) {
		w.run(one())
		w.apply(gpu, bind("gpu", inNamespaces("team", "ml")), other, bind("other"))
		w.expectNotes("Job", fmt.Sprintf(told, "other"))
		w.apply(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{"team": "ml"}}})
		w.fail(3)
		w.expectJob("failed 1")
		w.expectNotes("Job", fmt.Sprintf(told, "gpu"), fmt.Sprintf(told, "other"))
	})
}
