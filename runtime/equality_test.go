package runtime_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/testing/generators"
	"github.com/podverdict/podverdict/runtime"
)

// Number of pairs that the equality tests draw. The interpreter takes a thousand times as long as
// the fast path, and compiling a policy takes as long as evaluating many pods.
const (
	generatedPolicies     = 1500
	podsAPolicy           = 100
	interpretedPodsPolicy = 2
)

// TestGeneratedPairs checks that the fast path, the interpreter and the definition agree, including
// the message text.
func TestGeneratedPairs(t *testing.T) {
	for _, hostile := range []bool{false, true} {
		t.Run(fmt.Sprintf("hostile=%t", hostile), func(t *testing.T) {
			g := generators.NewPairs(3329, hostile)
			seen := census{}
			for i := range draws(generatedPolicies, 60) {
				kubernetes, environment := compiler.DefaultVersion, current
				if i%8 == 0 {
					kubernetes, environment = "1.28", before129
				}
				policy := g.Policy()
				special := runtime.NewProgram(compiledBy(t, environment, policy))
				plain := special.Interpreted()
				for j := range podsAPolicy {
					pod := g.Pod()
					want := oracle(t, kubernetes, policy, pod)
					seen.count(want)
					same(t, "specialized", policy, pod, special.Evaluate(t.Context(), pod), want)
					if j < interpretedPodsPolicy {
						same(t, "interpreted", policy, pod, plain.Evaluate(t.Context(), pod), want)
					}
				}
				if t.Failed() {
					return
				}
			}
			seen.check(t)
		})
	}
}

// judged returns the pod, as failed if it has no phase, as in vectors.
func judged(pod *corev1.Pod) *corev1.Pod {
	if pod.Status.Phase != "" {
		return pod
	}
	failed := pod.DeepCopy()
	failed.Status.Phase = corev1.PodFailed
	return failed
}

// TestProgramIsSharedByGoroutines is a test for the race detector. The pods beyond the bounds make
// all goroutines request the interpreted programs at the same time.
func TestProgramIsSharedByGoroutines(t *testing.T) {
	g := generators.NewPairs(1, false)
	large := failedPod()
	large.Status.ContainerStatuses = exited(compiler.MaxContainers+1, 42)
	for range draws(6, 2) {
		policy := g.Policy()
		pods := []*corev1.Pod{large}
		for range 5 {
			pods = append(pods, g.Pod().DeepCopy())
		}
		for _, p := range programs(t, policy) {
			var group sync.WaitGroup
			for range 8 {
				group.Go(func() { judgeAll(t, p, policy, pods) })
			}
			group.Wait()
		}
	}
}

func judgeAll(t *testing.T, p *runtime.Program, policy *batchv1.PodFailurePolicy, pods []*corev1.Pod) {
	t.Helper()
	for i, pod := range pods {
		want := oracle(t, "", policy, pod)
		same(t, "shared", policy, pod, p.Evaluate(t.Context(), pod), want)
		if i == 0 {
			continue // other tests explain thousands of elements
		}
		e, err := p.Explain(t.Context(), runtime.Input{Pod: pod})
		if err != nil {
			t.Error(err)
		}
		same(t, "shared, explained", policy, pod, e.Verdict, want)
	}
}

// TestNothingIsModified checks that programs do not modify policies and pods, which are shared.
func TestNothingIsModified(t *testing.T) {
	for _, hostile := range []bool{false, true} {
		g := generators.NewPairs(2, hostile)
		for range draws(60, 6) {
			policy, pod := g.Policy(), g.Pod()
			policyBefore, podBefore := policy.DeepCopy(), pod.DeepCopy()
			for path, p := range programs(t, policy) {
				p.Evaluate(t.Context(), pod)
				if _, err := p.Explain(t.Context(), runtime.Input{Pod: pod}); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(podBefore, pod); diff != "" {
					t.Fatalf("%s: the pod was changed:\n%s", path, diff)
				}
				if diff := cmp.Diff(policyBefore, policy); diff != "" {
					t.Fatalf("%s: the policy was changed:\n%s", path, diff)
				}
			}
		}
	}
}

func same(t *testing.T, path string, policy *batchv1.PodFailurePolicy, pod *corev1.Pod, got, want runtime.Verdict) {
	t.Helper()
	if got.Equal(want) && got.Message() == want.Message() {
		return
	}
	t.Errorf("%s:\ngot  %+v %q\nwant %+v %q\npolicy %+v\npod status %+v",
		path, got, got.Message(), want, want.Message(), policy, pod.Status)
}

// census counts verdicts by kind. A comparison that never saw a kind proves nothing about it.
type census map[string]int

func (c census) count(v runtime.Verdict) {
	switch {
	case !v.Terminal:
		c["not terminal"]++
	case !v.Matched:
		c["unmatched"]++
	case v.ExitCode != 0:
		c["exit code "+string(v.Action)]++
	default:
		c["condition "+string(v.Action)]++
	}
}

func (c census) check(t *testing.T) {
	t.Helper()
	kinds := []string{"not terminal", "unmatched"}
	for _, action := range []batchv1.PodFailurePolicyAction{failJob, failIndex, ignore, count} {
		kinds = append(kinds, "exit code "+string(action), "condition "+string(action))
	}
	for _, kind := range kinds {
		if c[kind] == 0 {
			t.Errorf("no verdict of the kind %q was seen, only %v", kind, map[string]int(c))
		}
	}
}
