package conformance

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
)

// Go returns the verdict by its definition in plain Go, with which other engines are compared. It fails for a Kubernetes
// version that compiler.ParseVersion rejects.
func Go(_ context.Context, r Request) (runtime.Verdict, error) {
	failIndex, err := hasFailIndex(r.Kubernetes)
	if err != nil {
		return runtime.Verdict{}, err
	}
	// KEP-3329 "Evaluation": a pod is evaluated once it has failed; until then it might still succeed.
	if phase := r.Pod.Status.Phase; phase != corev1.PodFailed && phase != "" {
		return runtime.NotTerminal(r.Pod), nil
	}
	// "only the first rule with matching requirements is applied".
	for i, rule := range rules(r.Policy) {
		// KEP-3329 "JobSpec API": "Clients should react to an unknown action by
		// skipping the rule."
		if !knows(rule.Action, failIndex) {
			continue
		}
		// A rule has one selector. If it has both, against the API's validation, exit codes come first.
		if rule.OnExitCodes != nil {
			if c := exited(r.Pod, rule.OnExitCodes); c != nil {
				return runtime.MatchedExitCode(r.Pod, i, rule.Action, c), nil
			}
		} else if c := conditioned(r.Pod, rule.OnPodConditions); c != nil {
			return runtime.MatchedCondition(r.Pod, i, rule.Action, c), nil
		}
	}
	// "If the pod failure does not match any of the specified rules, then default
	// handling of failed pods applies": it is counted.
	return runtime.Unmatched(r.Pod), nil
}

func rules(p *batchv1.PodFailurePolicy) []batchv1.PodFailurePolicyRule {
	if p == nil {
		return nil
	}
	return p.Rules
}

// exited returns the first container that satisfies the requirement: "each app container and init container status" (KEP-3329
// "JobSpec API"), in this order.
func exited(pod *corev1.Pod, requirement *batchv1.PodFailurePolicyOnExitCodesRequirement) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range list {
			if satisfies(&list[i], requirement) {
				return &list[i]
			}
		}
	}
	return nil
}

func satisfies(c *corev1.ContainerStatus, requirement *batchv1.PodFailurePolicyOnExitCodesRequirement) bool {
	// "When null, the rule applies to all containers."
	if requirement.ContainerName != nil && *requirement.ContainerName != c.Name {
		return false
	}
	// Only state counts, not lastState, and "containers completed with success
	// (exit code 0) are excluded from the requirement check", whatever the operator.
	if c.State.Terminated == nil || c.State.Terminated.ExitCode == 0 {
		return false
	}
	listed := slices.Contains(requirement.Values, c.State.Terminated.ExitCode)
	switch requirement.Operator {
	case batchv1.PodFailurePolicyOnExitCodesOpIn:
		return listed
	case batchv1.PodFailurePolicyOnExitCodesOpNotIn:
		return !listed
	default: // "assuming the requirement is not satisfied"
		return false
	}
}

// conditioned returns the pod's first condition that equals a pattern in type and status: "satisfied if at least one pattern
// matches an actual pod condition".
func conditioned(pod *corev1.Pod, patterns []batchv1.PodFailurePolicyOnPodConditionsPattern) *corev1.PodCondition {
	for i, c := range pod.Status.Conditions {
		if slices.Contains(patterns, batchv1.PodFailurePolicyOnPodConditionsPattern{Type: c.Type, Status: c.Status}) {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// knows reports whether the action exists in a Kubernetes version with or without FailIndex.
func knows(action batchv1.PodFailurePolicyAction, failIndex bool) bool {
	switch action {
	case batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount:
		return true
	case batchv1.PodFailurePolicyActionFailIndex:
		return failIndex
	default:
		return false
	}
}

// hasFailIndex reports whether the Kubernetes version has the action FailIndex: since 1.29, when the feature gate
// JobBackoffLimitPerIndex of KEP-3850 is on by default. Earlier versions skip rules with it.
func hasFailIndex(kubernetes string) (bool, error) {
	if kubernetes == "" || kubernetes == compiler.DefaultVersion {
		return true, nil
	}
	v, err := compiler.ParseVersion(kubernetes)
	if err != nil {
		return false, err
	}
	return v.AtLeast(version.MajorMinor(1, 29)), nil
}
