package diff

import (
	"io"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
	"github.com/podverdict/podverdict/internal/kube/scenarios"
)

// drawPolicy draws a policy that the API server accepts, about the containers, exit codes and conditions of scenarios.
func drawPolicy(t *rapid.T, label string) *batchv1.PodFailurePolicy {
	policy := &batchv1.PodFailurePolicy{}
	for range rapid.IntRange(0, 4).Draw(t, label) {
		rule := batchv1.PodFailurePolicyRule{Action: rapid.SampledFrom([]batchv1.PodFailurePolicyAction{"FailJob", "Ignore", "Count"}).Draw(t, "action")}
		if rapid.Bool().Draw(t, "on exit codes") {
			codes := rapid.SliceOfNDistinct(rapid.SampledFrom([]int32{1, 42, 127, 128, 137, 143, 255}), 1, 4, rapid.ID[int32]).Draw(t, "codes")
			slices.Sort(codes)
			rule.OnExitCodes = &batchv1.PodFailurePolicyOnExitCodesRequirement{
				ContainerName: rapid.SampledFrom([]*string{nil, nil, new("main"), new("helper")}).Draw(t, "container"),
				Operator:      rapid.SampledFrom([]batchv1.PodFailurePolicyOnExitCodesOperator{"In", "In", "NotIn"}).Draw(t, "operator"),
				Values:        codes,
			}
		} else {
			rule.OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{{
				Type:   rapid.SampledFrom([]corev1.PodConditionType{corev1.DisruptionTarget, corev1.PodReady}).Draw(t, "type"),
				Status: rapid.SampledFrom([]corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse}).Draw(t, "status"),
			}}
		}
		policy.Rules = append(policy.Rules, rule)
	}
	return policy
}

// sideOf returns a side with a Job that has a policy and two containers.
func sideOf(policy *batchv1.PodFailurePolicy) side {
	job := scenarios.PlainJob()
	job.Spec.PodFailurePolicy = policy
	job.Spec.Template.Spec.Containers = append(job.Spec.Template.Spec.Containers, corev1.Container{Name: "helper", Image: "example.com/helper"})
	jobdefaults.Set(job)
	set := &manifest.Set{Jobs: []manifest.Job{{Object: job}}}
	return side{set: set, policies: effective.FromFiles(set)}
}

// TestDiffIsReal checks that a change is reported exactly where the definition gives another verdict.
func TestDiffIsReal(t *testing.T) {
	c := &cli.Console{Stderr: io.Discard}
	changes := 0
	rapid.Check(t, func(t *rapid.T) {
		old, changed := drawPolicy(t, "rules before"), drawPolicy(t, "rules after")
		d := difference{before: sideOf(old), after: sideOf(changed)}
		if err := d.pair(c, nil); err != nil {
			t.Fatal(err)
		}
		found, _, err := d.judge(t.Context(), c, compiler.DefaultVersion)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != 1 || len(found[0].Items) < 40 {
			t.Fatalf("%d Jobs", len(found))
		}
		pods := map[string]*corev1.Pod{}
		for _, pod := range found[0].Plan.Pods {
			pods[pod.Object.Name] = pod.Object
		}
		for _, item := range found[0].Items {
			pod := pods[item.Pod.Name].DeepCopy()
			before, errBefore := conformance.Go(t.Context(), conformance.Request{Policy: old, Pod: pod})
			after, errAfter := conformance.Go(t.Context(), conformance.Request{Policy: changed, Pod: pod})
			if errBefore != nil || errAfter != nil {
				t.Fatal(errBefore, errAfter)
			}
			if differ := before.Action != after.Action || before.Counted != after.Counted; differ != item.Changed {
				t.Errorf("%s: changed: %t, but %q -> %q", item.Scenario, item.Changed, before.Action, after.Action)
			}
			if item.Changed {
				changes++
			}
		}
	})
	if changes == 0 {
		t.Error("nothing ever changes")
	}
}

// TestDiffOfItself checks that nothing changes from a policy to itself.
func TestDiffOfItself(t *testing.T) {
	c := &cli.Console{Stderr: io.Discard}
	rapid.Check(t, func(t *rapid.T) {
		policy := drawPolicy(t, "rules")
		d := difference{before: sideOf(policy), after: sideOf(policy.DeepCopy())}
		if err := d.pair(c, nil); err != nil {
			t.Fatal(err)
		}
		found, _, err := d.judge(t.Context(), c, compiler.DefaultVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range found[0].Items {
			if item.Changed {
				t.Errorf("%s changes: %+v, before: %+v", item.Scenario, item.Verdict, item.Before.Verdict)
			}
		}
	})
}
