package v1alpha1_test

import (
	"fmt"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

func ExampleDecode() {
	object, err := v1alpha1.Decode([]byte(`
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicy
metadata: {name: training}
spec:
  rules:
  - {name: out-of-memory, when: "pod.failedContainers().exists(c, c.oomKilled)", action: Retry}
  - {name: out-of-memory, when: "attempt > 3", action: FailJob, retryDelay: 30s}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, found := range object.Validate() {
		fmt.Println(found)
	}
	// Output:
	// spec.rules[0].action: Unsupported value: "Retry": supported values: "FailJob", "FailIndex", "Ignore", "Count"
	// spec.rules[1].retryDelay: Invalid value: "30s": must be left out with FailJob, after which there is no retry
	// spec.rules[1]: Duplicate value: "out-of-memory"
}
