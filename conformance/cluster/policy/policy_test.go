//go:build cluster

package policy

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

func TestMain(m *testing.M) { os.Exit(controlplane.Run(m)) } //nolint:forbidigo // main of the tests

const (
	ignoring    = `{rules: [{name: oom, when: "pod.failedContainers().exists(c, c.exitCode == 3)", action: Ignore, reason: OutOfMemory}]}`
	failing     = `{rules: [{name: oom, when: "pod.failedContainers().exists(c, c.exitCode == 3)", action: FailJob, reason: OutOfMemory}]}`
	broken      = `{rules: [{name: oom, when: "pod.failedContainers().exists(c, c.exitcode == 3)", action: FailJob}]}`
	brokenAgain = `{rules: [{name: oom, when: "pod.failedContainers().all(c, c.exitcode == 3)", action: FailJob}]}`
	trial       = `{policyName: gpu, mode: Audit}`
	enforced    = `{policyName: gpu, mode: Enforce}`

	lastGood = `{"generation":1,"spec":{"failurePolicy":"Ignore","rules":[{"action":"Ignore","name":"oom","phase":"Failed","reason":"OutOfMemory",` +
		`"when":"pod.failedContainers().exists(c, c.exitCode == 3)"}]}}`
)

func TestCustomPolicies(t *testing.T) {
	w := newWorld(t)
	w.until("the controller is ready without the kinds", func(context.Context) (bool, string) {
		err := w.controller.Ready()
		return err == nil, "not yet"
	})
	w.run("train")
	w.fail("train", 3)
	w.untilFailed("train", 1)

	w.install()
	w.apply(bindings, v1alpha1.KindPodFailurePolicyBinding, trial)
	w.untilReady(bindings, "False", v1alpha1.ReasonPolicyNotFound, "there is no PodFailurePolicy gpu")
	w.apply(policies, v1alpha1.KindPodFailurePolicy, ignoring)
	w.untilReady(policies, "True", v1alpha1.ReasonCompiled, "every expression compiles")
	w.untilReady(bindings, "True", v1alpha1.ReasonPolicyFound, "")
	pod := w.fail("train", 3)
	w.untilFailed("train", 2)
	w.untilTold(w.namespace, pod.Name, "PodFailureVerdict", "Count: no rule matches; would: Ignore by rule oom of gpu: OutOfMemory; nobody carries it out: the binding has mode Audit")

	w.apply(bindings, v1alpha1.KindPodFailurePolicyBinding, enforced)
	w.untilReady(bindings, "True", v1alpha1.ReasonPolicyFound, "")
	pod = w.fail("train", 3)
	w.untilFailed("train", 2)
	w.untilTold(w.namespace, pod.Name, "PodFailureVerdict", "Ignore by rule oom of gpu: OutOfMemory")

	w.apply(policies, v1alpha1.KindPodFailurePolicy, broken)
	o := w.untilReady(policies, "False", v1alpha1.ReasonInvalidExpressions, "generation 1 stays in force")
	if findings, _, _ := unstructured.NestedSlice(o.Object, "status", "typeChecking", "findings"); len(findings) != 1 {
		t.Errorf("the findings are %v", findings)
	}
	w.untilReady(bindings, "False", v1alpha1.ReasonPolicyInvalid, "generation 1 stays in force")
	w.untilTold(metav1.NamespaceDefault, "gpu", v1alpha1.ReasonInvalidExpressions, "generation 1 stays in force")
	w.fail("train", 3)
	w.untilFailed("train", 2)

	w.stop()
	w.apply(policies, v1alpha1.KindPodFailurePolicy, brokenAgain)
	w.start()
	w.untilReady(policies, "False", v1alpha1.ReasonInvalidExpressions, "generation 1 stays in force")
	pod = w.fail("train", 3)
	w.untilFailed("train", 2)
	w.untilTold(w.namespace, pod.Name, "PodFailureVerdict", "Ignore by rule oom of gpu: OutOfMemory")
	w.untilKept(lastGood)
	later := strings.Replace(lastGood, `}]`, `}],"scope":{"of":["a later version"]}`, 1)
	if got := w.keep(`{"spec":{"scope":{"of":["a later version"]}}}`); got != later {
		t.Errorf("of a field that the schema does not know is stored\n%s, want\n%s", got, later)
	}
	w.keep(`{"spec":{"rules":"none"}}`) // does not fit the Go types, and is put right
	w.untilKept(lastGood)

	w.apply(policies, v1alpha1.KindPodFailurePolicy, failing)
	w.untilReady(policies, "True", v1alpha1.ReasonCompiled, "")
	w.untilTold(metav1.NamespaceDefault, "gpu", v1alpha1.ReasonCompiled, "every expression compiles")
	pod = w.fail("train", 3)
	job := w.untilFailed("train", 3)
	last := job.Status.Conditions[len(job.Status.Conditions)-1]
	want := "Pod " + w.namespace + "/" + pod.Name + " matching FailJob rule oom of PodFailurePolicy gpu: OutOfMemory"
	if last.Type != batchv1.JobFailed || last.Reason != batchv1.JobReasonPodFailurePolicy || last.Message != want {
		t.Errorf("the condition is %+v", last)
	}

	w.uninstall()
	w.run("again")
	w.fail("again", 3)
	if job := w.untilFailed("again", 1); slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type != plan.LedgerCondition }) {
		t.Errorf("the conditions are %+v", job.Status.Conditions)
	}
}
