package vectors_test

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/reports"
	"github.com/podverdict/podverdict/conformance/vectors"
)

// mine is another project's engine, which supports no rules yet.
func mine(_ context.Context, r conformance.Request) (podverdict.Verdict, error) {
	if r.Pod.Status.Phase != corev1.PodFailed {
		return conformance.ParseVerdict([]byte(`{"terminal": false, "matched": false, "counted": false}`))
	}
	return conformance.ParseVerdict([]byte(`{"terminal": true, "matched": false, "action": "Count", "counted": true}`))
}

// Run evaluates the vectors that another project's engine supports.
func ExampleRun() {
	all, err := vectors.Verdicts()
	if err != nil {
		panic(err)
	}
	report, err := vectors.Run(context.Background(), mine, all, vectors.Options{
		Features: []vectors.Feature{vectors.FeatureNoRules, vectors.FeaturePhase},
	})
	fmt.Println("conforms:", report.OK(), err)
	// Output: conforms: true <nil>
}

// A report can be written as a table.
func Example_reportTable() {
	report := reports.Report{Engine: "mine", Results: []reports.Result{
		{Name: "conditions/true", Outcome: reports.Passed},
		{
			Name: "exitcodes-in/zero", Sentence: "Exit code 0 never matches.",
			Outcome: reports.Failed, Detail: "matched:\n  got  true\n  want false",
		},
	}}
	if err := report.WriteTable(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// FAILED: exitcodes-in/zero
	//     Exit code 0 never matches.
	//     matched:
	//       got  true
	//       want false
	//
	// TOPIC          PASSED   OTHER   NOT SUPPORTED
	// conditions     1        0       0
	// exitcodes-in   0        1       0
	//
	// mine: 1 passed, 1 failed
}
