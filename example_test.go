package podverdict_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict"
	"github.com/podverdict/podverdict/api/v1alpha1"
)

// A rule of a custom policy decides on a Pod that ran out of memory, which a podFailurePolicy cannot express.
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
	fmt.Println(why(explanation))
	// Output:
	// Count <nil>
	// not matched: no container has failed with an exit code in [42, 43]
}

// why returns the reason for each rule.
func why(explanation podverdict.Explanation) string {
	var all []string
	for _, rule := range explanation.Rules {
		all = append(all, fmt.Sprintf("%s: %s", rule.Outcome, rule.Because))
	}
	return strings.Join(all, "\n")
}

// If kube-controller-manager runs the Job, policies do not apply, because nothing carries out their verdicts.
func ExampleEnforced() {
	engine, err := podverdict.New(oom)
	if err != nil {
		panic(err)
	}
	for _, options := range [][]podverdict.Option{nil, {podverdict.Enforced(false)}} {
		verdict, err := engine.Judge(context.Background(), job, pod, options...)
		fmt.Println(verdict.Action, err)
	}
	// Output:
	// FailJob <nil>
	// Count <nil>
}

// The JSON of a Verdict is the output of `podverdict eval -o json`.
func ExampleVerdict() {
	engine, err := podverdict.New(oom)
	if err != nil {
		panic(err)
	}
	verdict, err := engine.Judge(context.Background(), job, pod)
	if err != nil {
		panic(err)
	}
	text, err := json.MarshalIndent(verdict, "", "  ")
	fmt.Println(string(text), err)
	// Output: {
	//   "terminal": true,
	//   "matched": true,
	//   "action": "FailJob",
	//   "counted": true,
	//   "rule": 0,
	//   "policy": "oom",
	//   "ruleName": "killed",
	//   "message": "Pod batch/train-7xk2p matching FailJob rule killed of PodFailurePolicy oom"
	// } <nil>
}
