package cel_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/compiler/cel"
)

// TestFailedIndexCount checks that a malformed list of failed indexes counts as empty.
func TestFailedIndexCount(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "0": 1, "7": 1, "0,1": 2, "0-2": 3, "0,2-4,9": 5, "0-2147483647": 1 << 31,
		"x": 0, ",": 0, "0,": 0, "0,,1": 0, "2-1": 0, "1-": 0, "-1": 0, "0,0": 0, "3,1": 0, "0-5,5": 0, "0,1x": 0, "1-2-3": 0, "0-2147483648": 0, "99999999999999999999": 0,
	} {
		if got := cel.FailedIndexCount(&batchv1.Job{Status: batchv1.JobStatus{FailedIndexes: &text}}); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
