package upstream

import (
	"errors"
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/internal/testing/generators"
)

// TestDifferential runs for some seconds what upstream differential does for hours.
func TestDifferential(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1000)) // most of the memory is upstream's garbage
	share := int64(1)
	if testing.Short() {
		share = 20
	}
	tests := map[string]struct {
		differential Differential
		space        Space
	}{
		"generated":       {Differential{Generic: Sampled(200)}, Generated{Seed: 1, Count: 2_000_000 / share}},
		"Kubernetes 1.28": {Differential{Generic: Sampled(200), Kubernetes: "1.28"}, Generated{Seed: 2, Count: 100_000 / share}},
		"small scope":     {Differential{Generic: Sampled(50)}, sparse{Exhaustive{generators.NewSmallScope()}, 997 * share}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.differential.Workers = goruntime.GOMAXPROCS(0)
			tally, err := tt.differential.Run(t.Context(), tt.space)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", tally)
			if tally.Pairs != tt.space.Pairs() || tally.GenericPairs == 0 {
				t.Errorf("compared %d pairs, %d with the interpreter; want %d and some", tally.Pairs, tally.GenericPairs, tt.space.Pairs())
			}
			// In 1.28 FailIndex is not an action yet.
			if n := tally.Matched[batchv1.PodFailurePolicyActionFailIndex]; n == 0 != (tt.differential.Kubernetes == "1.28") {
				t.Errorf("FailIndex matched %d pairs", n)
			}
		})
	}
}

// sparse is one block in every step blocks.
type sparse struct {
	Exhaustive
	step int64
}

func (s sparse) Blocks() int64 { return s.Exhaustive.Blocks() / s.step }

func (s sparse) Pairs() int64 { return s.Blocks() * int64(s.Pods()) }

func (s sparse) Walk(block int64, v Visitor) error { return s.Exhaustive.Walk(block*s.step, v) }

func TestDifferentialDoesNotDependOnWorkers(t *testing.T) {
	space := Generated{Seed: 3, Count: 20_001}
	var tallies []Tally
	for _, workers := range []int{1, 3} {
		tally, err := Differential{Workers: workers, Generic: Sampled(20)}.Run(t.Context(), space)
		if err != nil {
			t.Fatal(err)
		}
		tallies = append(tallies, tally)
	}
	if diff := cmp.Diff(tallies[0], tallies[1]); diff != "" {
		t.Errorf("1 worker and 3 (-1 +3):\n%s", diff)
	}
	if tallies[0].Pairs != space.Count {
		t.Errorf("%d pairs, want %d", tallies[0].Pairs, space.Count)
	}
}

// lie is a space that changes a policy after its programs were built, which simulates a compiler bug.
type lie struct{}

func (lie) Blocks() int64 { return 1 }

func (lie) Pairs() int64 { return 1 }

func (lie) Walk(_ int64, v Visitor) error {
	p := policyOf(onExitCodes(batchv1.PodFailurePolicyActionIgnore, 42))
	if err := v.Policy(0, p); err != nil {
		return err
	}
	p.Rules[0].Action = batchv1.PodFailurePolicyActionCount
	return v.Pod(failedPod("main", 42))
}

func TestDifferentialNotices(t *testing.T) {
	_, err := Differential{Workers: 2}.Run(t.Context(), lie{})
	var d *DisagreementError
	if !errors.As(err, &d) {
		t.Fatalf("error %v, want a disagreement", err)
	}
	if d.Request.Pod.Status.ContainerStatuses[0].State.Terminated.ExitCode != 42 || !strings.Contains(err.Error(), "upstream") {
		t.Errorf("disagreement is about something else: %v", err)
	}
}

// TestPanicsAreDisagreements tests that a pair on which an engine panics is reported.
func TestPanicsAreDisagreements(t *testing.T) {
	env, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	policy := policyOf(onExitCodes(batchv1.PodFailurePolicyActionIgnore, 42))
	p, err := newPanel(env, controller{}, policy, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, agree, err := p.judge(t.Context(), nil); agree || err != nil { // no pod: every engine panics
		t.Errorf("agree %v, error %v", agree, err)
	}
	for _, a := range answers(t.Context(), env, controller{}, conformance.Request{Kubernetes: env.Kubernetes, Policy: policy}) {
		if a.Err == nil || !strings.HasPrefix(a.String(), "error: panic: runtime error: ") {
			t.Errorf("%s: %s", a.Engine, a)
		}
	}
	// A policy that panics in the compiler agrees on no pod.
	broken, err := newPanel(&compiler.Environment{Kubernetes: compiler.DefaultVersion}, controller{}, policy, true)
	if !errors.As(err, &panicError{}) {
		t.Fatalf("error %v, want a panic", err)
	}
	if _, agree, err := broken.judge(t.Context(), failedPod("main", 42)); agree || err != nil {
		t.Errorf("agree %v, error %v", agree, err)
	}
}
