package podverdict_test

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict"
	"github.com/podverdict/podverdict/api/v1alpha1"
)

// The rule of a custom policy decides on a Pod that has run out of memory; a podFailurePolicy cannot say that.
func ExampleEngine_Judge() {
	oom := &v1alpha1.PodFailurePolicy{}
	oom.Name = "oom"
	oom.Spec.Rules = []v1alpha1.Rule{{
		Name: "killed", Action: "FailJob", When: "pod.failedContainers().exists(c, c.oomKilled)",
	}}
	engine, err := podverdict.New(oom)
	if err != nil {
		panic(err)
	}
	verdict, err := engine.Judge(context.Background(), job, pod)
	fmt.Println(verdict.Action, verdict.Policy, verdict.RuleName, err)
	// Output: FailJob oom killed <nil>
}

var (
	job = &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "batch", Name: "train"}}
	pod = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "batch", Name: "train-7xk2p"},
		Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}},
		}}},
	}
)

func ExampleEngine_Explain() {
	engine, err := podverdict.New()
	if err != nil {
		panic(err)
	}
	limited := job.DeepCopy()
	limited.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:      batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In", Values: []int32{42, 43}},
	}}}
	explanation, err := engine.Explain(context.Background(), limited, pod)
	fmt.Println(explanation.Verdict.Action, err)
	for _, rule := range explanation.Rules {
		fmt.Println(rule.Outcome+":", rule.Because)
	}
	// Output:
	// Count <nil>
	// not matched: no container has failed with an exit code in [42, 43]
}
