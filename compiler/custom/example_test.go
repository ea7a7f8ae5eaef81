package custom_test

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
)

func Example() {
	environment, err := custom.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		fmt.Println(err)
		return
	}
	policy, err := environment.Compile(&v1alpha1.PodFailurePolicySpec{
		Variables: []v1alpha1.Variable{{Name: "oom", Expression: "pod.failedContainers().exists(c, c.oomKilled)"}},
		Rules: []v1alpha1.Rule{
			{Name: "disruption", When: "pod.hasCondition('DisruptionTarget')", Action: "Ignore"},
			{
				Name: "out-of-memory", When: "variables.oom && attempt > 3", Action: "FailJob",
				MessageExpression: "'out of memory in ' + pod.failedContainers()[0].name",
			},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	pod := &corev1.Pod{Status: corev1.PodStatus{
		Phase: corev1.PodFailed,
		ContainerStatuses: []corev1.ContainerStatus{{Name: "train", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"},
		}}},
	}}
	match, err := policy.Evaluate(context.Background(), custom.Input{Pod: pod, Job: &batchv1.Job{}, Attempt: 4})
	fmt.Println(match.Rule, match.Message, err)
	// Output: 1 out of memory in train <nil>
}

func ExampleFinding() {
	environment, err := custom.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = environment.Compile(&v1alpha1.PodFailurePolicySpec{
		Rules: []v1alpha1.Rule{{Name: "oom", When: "pod.failedContainers().exists(c, c.oomkilled)", Action: "FailJob"}},
	})
	fmt.Println(err)
	// Output:
	// spec.rules[0].when:1:36: error: podverdict.Container has no field "oomkilled" (type)
	//  | pod.failedContainers().exists(c, c.oomkilled)
	//  | ...................................^
	//    did you mean "oomKilled"?
}
