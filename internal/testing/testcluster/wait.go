package testcluster

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// patience is for a machine whose cores are all taken.
const patience = 2 * time.Minute

// Eventually waits for a condition. An error that goes away does not matter.
func Eventually(t testing.TB, what string, is func(context.Context) (bool, error)) {
	t.Helper()
	Within(t, patience, what, is)
}

// Within waits for a condition as long as is said.
func Within(t testing.TB, limit time.Duration, what string, is func(context.Context) (bool, error)) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, limit, true, func(ctx context.Context) (done bool, _ error) {
		done, last = is(ctx)
		return done, nil
	})
	if err != nil {
		t.Fatalf("waiting until %s: %v, %v", what, err, last)
	}
}
