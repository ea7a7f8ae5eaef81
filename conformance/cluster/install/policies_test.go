//go:build cluster

package install

import (
	"context"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

const (
	ignoring    = `{rules: [{name: oom, when: "pod.failedContainers().exists(c, c.exitCode == 3)", action: Ignore, reason: OutOfMemory}]}`
	failing     = `{rules: [{name: oom, when: "pod.failedContainers().exists(c, c.exitCode == 3)", action: FailJob, reason: OutOfMemory}]}`
	broken      = `{rules: [{name: oom, when: "pod.failedContainers().exists(c, c.exitcode == 3)", action: FailJob}]}`
	brokenAgain = `{rules: [{name: oom, when: "pod.failedContainers().all(c, c.exitcode == 3)", action: FailJob}]}`
	audited     = `{policyName: gpu, mode: Audit}`
	enforced    = `{policyName: gpu, mode: Enforce}`

	lastGood = `{"generation":1,"spec":{"failurePolicy":"Ignore","rules":[{"action":"Ignore","name":"oom","phase":"Failed","reason":"OutOfMemory",` +
		`"when":"pod.failedContainers().exists(c, c.exitCode == 3)"}]}}`
)

func TestCustomPolicies(t *testing.T) {
	w := newCustomized(t)
	testcluster.Eventually(t, "the controller is ready without the kinds", func(context.Context) (bool, error) {
		err := w.controller.Ready()
		return err == nil, err
	})
	w.run(t, "train")
	w.fail(t, "train", 3)
	w.untilFailed(t, "train", 1)

	w.install(t)
	w.apply(t, bindings, v1alpha1.KindPodFailurePolicyBinding, audited)
	w.untilReady(t, bindings, "False", v1alpha1.ReasonPolicyNotFound, "there is no PodFailurePolicy gpu")
	w.apply(t, policies, v1alpha1.KindPodFailurePolicy, ignoring)
	w.untilReady(t, policies, "True", v1alpha1.ReasonCompiled, "every expression compiles")
	w.untilReady(t, bindings, "True", v1alpha1.ReasonPolicyFound, "")
	pod := w.fail(t, "train", 3)
	w.untilFailed(t, "train", 2)
	w.UntilEvent(t, w.Namespace, pod.Name, "PodFailureVerdict", "Count: no rule matches; would: Ignore by rule oom of gpu: OutOfMemory; nobody carries it out: the binding has mode Audit")

	w.apply(t, bindings, v1alpha1.KindPodFailurePolicyBinding, enforced)
	w.untilReady(t, bindings, "True", v1alpha1.ReasonPolicyFound, "")
	pod = w.fail(t, "train", 3)
	w.untilFailed(t, "train", 2)
	w.UntilEvent(t, w.Namespace, pod.Name, "PodFailureVerdict", "Ignore by rule oom of gpu: OutOfMemory")

	w.apply(t, policies, v1alpha1.KindPodFailurePolicy, broken)
	o := w.untilReady(t, policies, "False", v1alpha1.ReasonInvalidExpressions, "generation 1 stays in force")
	if findings, _, _ := unstructured.NestedSlice(o.Object, "status", "typeChecking", "findings"); len(findings) != 1 {
		t.Errorf("the findings are %v", findings)
	}
	w.untilReady(t, bindings, "False", v1alpha1.ReasonPolicyInvalid, "generation 1 stays in force")
	w.UntilEvent(t, metav1.NamespaceDefault, "gpu", v1alpha1.ReasonInvalidExpressions, "generation 1 stays in force")
	w.fail(t, "train", 3)
	w.untilFailed(t, "train", 2)

	w.stop()
	w.apply(t, policies, v1alpha1.KindPodFailurePolicy, brokenAgain)
	w.start(t)
	w.untilReady(t, policies, "False", v1alpha1.ReasonInvalidExpressions, "generation 1 stays in force")
	pod = w.fail(t, "train", 3)
	w.untilFailed(t, "train", 2)
	w.UntilEvent(t, w.Namespace, pod.Name, "PodFailureVerdict", "Ignore by rule oom of gpu: OutOfMemory")
	w.untilKept(t, lastGood)
	later := strings.Replace(lastGood, `}]`, `}],"scope":{"of":["a later version"]}`, 1)
	if got := w.keep(t, `{"spec":{"scope":{"of":["a later version"]}}}`); got != later {
		t.Errorf("of a field that the schema does not know is stored\n%s, want\n%s", got, later)
	}
	w.keep(t, `{"spec":{"rules":"none"}}`) // does not fit the Go types, and is corrected
	w.untilKept(t, lastGood)

	w.apply(t, policies, v1alpha1.KindPodFailurePolicy, failing)
	w.untilReady(t, policies, "True", v1alpha1.ReasonCompiled, "")
	w.UntilEvent(t, metav1.NamespaceDefault, "gpu", v1alpha1.ReasonCompiled, "every expression compiles")
	pod = w.fail(t, "train", 3)
	job := w.untilFailed(t, "train", 3)
	last := job.Status.Conditions[len(job.Status.Conditions)-1]
	want := "Pod " + w.Namespace + "/" + pod.Name + " matching FailJob rule oom of PodFailurePolicy gpu: OutOfMemory"
	if last.Type != batchv1.JobFailed || last.Reason != batchv1.JobReasonPodFailurePolicy || last.Message != want {
		t.Errorf("the condition is %+v", last)
	}

	w.uninstall(t)
	w.run(t, "again")
	w.fail(t, "again", 3)
	if job := w.untilFailed(t, "again", 1); slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type != plan.LedgerCondition }) {
		t.Errorf("the conditions are %+v", job.Status.Conditions)
	}
}
