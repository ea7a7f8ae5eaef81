package conformance_test

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/conformance"
)

func ExampleGo() {
	policy := &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action: batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42},
		},
	}}}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "train-0"},
		Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 42}},
		}}},
	}
	verdict, err := conformance.Go(context.Background(), conformance.Request{Policy: policy, Pod: pod})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(verdict.Action, verdict.Rule)
	fmt.Println(verdict.Message())
	// Output:
	// FailJob 0
	// Container main for pod default/train-0 failed with exit code 42 matching FailJob rule at index 0
}

// ParseVerdict rejects an answer that contradicts itself.
func ExampleParseVerdict() {
	_, err := conformance.ParseVerdict([]byte(`{"terminal":true,"matched":false,"action":"Count","counted":true,"rule":7}`))
	fmt.Println(err)
	// Output: field "rule" does not apply: no rule matched
}
