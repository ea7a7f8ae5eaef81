package custom_test

import (
	"fmt"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
)

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
	// spec.rules[0].when:1:36: error: podverdict.Container has no field "oomkilled" (type)
	//  | pod.failedContainers().exists(c, c.oomkilled)
	//  | ...................................^
	//    did you mean "oomKilled"?
}
