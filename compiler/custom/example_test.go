package custom_test

import (
	"fmt"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
)

// Compile checks the expressions of a policy, and determines their costs and the fields that they
// read.
func ExampleCompile() {
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		fmt.Println(err)
		return
	}
	policy, err := custom.Compile(environment, &v1alpha1.PodFailurePolicySpec{
		Rules: []v1alpha1.Rule{{Name: "last-attempt", When: "attempt > 3 && pod.status.?reason.orValue('') == 'Evicted'", Action: "FailJob"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, expression := range policy.Expressions() {
		fmt.Println(expression.Field, "is of type", expression.Type, "and costs at most", expression.Cost)
	}
	fmt.Println("reads the Pod's reason:", policy.Reads.Pod.Has("PodStatus", "reason"))
	// Output:
	// spec.rules[0].when is of type bool and costs at most 7
	// reads the Pod's reason: true
}

// A finding contains its position in the expression and a suggestion.
func ExampleFinding() {
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = custom.Compile(environment, &v1alpha1.PodFailurePolicySpec{
		Rules: []v1alpha1.Rule{{Name: "oom", When: "pod.failedContainers().exists(c, c.oomkilled)", Action: "FailJob"}},
	})
	fmt.Println(err)
	// Output:
	// spec.rules[0].when:1:36: error: podverdict.Container has no field "oomkilled" (expression-type)
	//  | pod.failedContainers().exists(c, c.oomkilled)
	//  | ...................................^
	//    did you mean "oomKilled"?
}
