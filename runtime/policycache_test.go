package runtime

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
)

func onCode(code int32, more string) *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:      batchv1.PodFailurePolicyAction("FailJob" + more),
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In", Values: []int32{code}},
	}}}
}

func TestPolicyCacheIsBounded(t *testing.T) {
	var cache PolicyCache[int]
	compiled := 0
	for i := range int32(4 * maxCachedPolicies) {
		if _, err := cache.Get(onCode(-1, ""), func(*batchv1.PodFailurePolicy) (int, error) { compiled++; return 0, nil }); err != nil {
			t.Fatal(err)
		}
		if _, err := cache.Get(onCode(i, strings.Repeat("x", int(i)*3)), func(*batchv1.PodFailurePolicy) (int, error) { return 0, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if compiled != 1 {
		t.Errorf("a policy in use is compiled %d times", compiled)
	}
	for _, g := range []generation[int]{cache.young, cache.old} {
		if len(g.entries) > maxCachedPolicies || g.bytes > maxCachedBytes || g.bytes == 0 {
			t.Errorf("a generation has %d policies of %d bytes", len(g.entries), g.bytes)
		}
	}
	large := onCode(1, strings.Repeat("x", maxCachedPolicy))
	before := len(cache.young.entries)
	if _, err := cache.Get(large, func(*batchv1.PodFailurePolicy) (int, error) { return 0, nil }); err != nil || len(cache.young.entries) != before {
		t.Errorf("a policy over the limit is cached, error %v", err)
	}
}

func TestPolicyCacheDropsErrors(t *testing.T) {
	var cache PolicyCache[int]
	failure := errors.New("failed")
	if _, err := cache.Get(nil, func(*batchv1.PodFailurePolicy) (int, error) { return 0, failure }); !errors.Is(err, failure) {
		t.Error(err)
	}
	if v, err := cache.Get(nil, func(*batchv1.PodFailurePolicy) (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Errorf("got %d, error %v after a failure, want 7", v, err)
	}
}

func TestPolicyCacheCompilesOnceAtATime(t *testing.T) {
	var cache PolicyCache[string]
	var compiled atomic.Int32
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			_, _ = cache.Get(onCode(42, ""), func(p *batchv1.PodFailurePolicy) (string, error) {
				compiled.Add(1)
				return fmt.Sprint(p), nil
			})
		})
	}
	group.Wait()
	if n := compiled.Load(); n != 1 {
		t.Errorf("compiled %d times, want once", n)
	}
}
