package testcluster

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// patience is a timeout for machines whose cores are all busy.
const patience = 2 * time.Minute

// Eventually waits for a condition. Temporary errors are ignored.
func Eventually(t testing.TB, what string, is func(context.Context) (bool, error)) {
	t.Helper()
	Within(t, patience, what, is)
}

// Within waits for a condition for at most the limit.
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
