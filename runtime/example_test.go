package runtime_test

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
)

// A Job's own podFailurePolicy is parsed, compiled and evaluated.
func Example() {
	var policy batchv1.PodFailurePolicy
	err := yaml.Unmarshal([]byte(`
rules:
- action: Ignore
  onPodConditions: [{type: DisruptionTarget}]
- action: FailJob
  onExitCodes: {containerName: main, operator: In, values: [42]}
`), &policy)
	if err != nil {
		fmt.Println(err)
		return
	}
	parsed, err := compiler.NewPolicy(&policy)
	if err != nil {
		fmt.Println(err)
		return
	}
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		fmt.Println(err)
		return
	}
	compiled, err := environment.Compile(parsed)
	if err != nil {
		fmt.Println(err)
		return
	}
	verdict := runtime.NewProgram(compiled).Evaluate(context.Background(), failedWith(42))
	fmt.Println(verdict.Action, verdict.Message())
	// Output: FailJob Container main for pod default/p failed with exit code 42 matching FailJob rule at index 1
}

// Rules of a PodFailurePolicy (podverdict.io) come before the Job's own rules. Explain returns the outcome of each rule for
// a pod, and the reason.
func ExampleJoin() {
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		fmt.Println(err)
		return
	}
	policy := &v1alpha1.PodFailurePolicy{ObjectMeta: metav1.ObjectMeta{Name: "training"}, Spec: v1alpha1.PodFailurePolicySpec{
		Variables: []v1alpha1.Variable{{Name: "killed", Expression: "pod.failedContainers().exists(c, c.signalName == 'SIGKILL')"}},
		Rules: []v1alpha1.Rule{{
			Name: "out-of-memory", When: "variables.killed && attempt > 3", Action: "FailJob",
			MessageExpression: "'killed in ' + pod.failedContainers()[0].name",
		}},
	}}
	before, err := runtime.NewCustomPolicy(environment, policy)
	if err != nil {
		fmt.Println(err)
		return
	}
	program := runtime.Join([]*runtime.Policy{before}, nil, nil)
	verdict := program.Judge(context.Background(), runtime.Input{Pod: failedWith(137), Attempt: 4})
	fmt.Println(verdict.Message())
	explanation, err := program.Explain(context.Background(), runtime.Input{Pod: failedWith(137), Attempt: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, rule := range explanation.Rules {
		fmt.Println(rule.Subject(), rule.Outcome+":", rule.Because)
	}
	// Output:
	// Pod default/p matching FailJob rule out-of-memory of PodFailurePolicy training: killed in main
	// rule out-of-memory of training not matched: attempt > 3 is false
}

// failedWith returns a failed pod whose container main exited with a code.
func failedWith(code int32) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"},
		Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}},
		}}},
	}
}
