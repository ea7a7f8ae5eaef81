package reports_test

import (
	"fmt"
	"os"

	"github.com/podverdict/podverdict/conformance/reports"
)

func ExampleReport_WriteTable() {
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
