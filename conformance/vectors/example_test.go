package vectors_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/vectors"
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
	all, err := vectors.Verdicts()
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := vectors.Run(context.Background(), engine, all, vectors.Options{
		Engine: "mine", Features: []vectors.Feature{vectors.FeatureNoRules, vectors.FeaturePhase},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("conforms:", report.OK())
	// Output: conforms: true
}
