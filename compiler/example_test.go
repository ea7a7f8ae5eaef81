package compiler_test

import (
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/podverdict/podverdict/compiler"
)

// NewPolicy reports what the API server rejects, with the paths of the fields.
func ExampleNewPolicy() {
	_, err := compiler.NewPolicy(&batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action: "Retry",
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{0, 42},
		},
	}}})
	if refused, ok := errors.AsType[*compiler.PolicyError](err); ok {
		for _, e := range refused.Errors {
			fmt.Println(e)
		}
	}
	// Output:
	// rules[0].action: Unsupported value: "Retry": supported values: "Count", "FailIndex", "FailJob", "Ignore"
	// rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator
}

// Compile generates CEL for each rule that runs unchanged in the API server.
func ExampleEnvironment_Compile() {
	policy, err := compiler.NewPolicy(&batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget}},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	environment, err := compiler.NewEnvironment("1.37")
	if err != nil {
		fmt.Println(err)
		return
	}
	compiled, err := environment.Compile(policy)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, rule := range compiled.Rules {
		text, err := rule.Source()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(text)
		fmt.Println("costs at most", rule.Cost)
	}
	// Output:
	// pod.?status.?conditions.orValue([]).exists(c, c.status == "True" && c.type in ["DisruptionTarget"])
	// costs at most 20015
}

// Lint reports valid rules that are probably mistakes.
func ExampleLint() {
	job := &batchv1.Job{}
	job.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main"}}
	job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{
			Action: batchv1.PodFailurePolicyActionFailJob,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOpNotIn, Values: []int32{1},
			},
		},
		{
			Action: batchv1.PodFailurePolicyActionCount,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42},
			},
		},
	}}
	for _, finding := range compiler.Lint(job, version.MustParseGeneric(compiler.DefaultVersion)) {
		fmt.Println(finding)
	}
	// Output: spec.podFailurePolicy.rules[1]: error: never decides: rule 0 takes every failure that it could match (unreachable-rule)
}
