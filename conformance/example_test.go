package conformance_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/runtime"
)

// Another project's engine, which has no rules on exit codes, judges the vectors
// that it supports.
func ExampleRun() {
	engine := func(_ context.Context, r conformance.Request) (runtime.Verdict, error) {
		if r.Pod.Status.Phase != corev1.PodFailed {
			return runtime.NotTerminal(r.Pod), nil
		}
		return runtime.Unmatched(r.Pod), nil
	}
	vectors, err := conformance.Vectors()
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := conformance.Run(context.Background(), engine, vectors, conformance.Options{
		Engine: "mine", Features: []conformance.Feature{conformance.FeatureNoRules, conformance.FeaturePhase},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("conforms:", report.OK())
	// Output: conforms: true
}
