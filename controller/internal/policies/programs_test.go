package policies

import (
	"maps"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/runtime"
)

type testPrograms struct {
	*Programs

	counts fixtures.Counted
}

func newTestPrograms(t *testing.T) testPrograms {
	t.Helper()
	counts := fixtures.NewCounted(t)
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	return testPrograms{NewPrograms(environment, counts.Metrics), counts}
}

func (p testPrograms) mustHave(t *testing.T, policy *batchv1.PodFailurePolicy) *runtime.Program {
	t.Helper()
	program, err := p.Of(policy)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func (p testPrograms) expect(t *testing.T, hits, misses, failures float64) {
	t.Helper()
	want := map[string]float64{
		"program_cache_lookups_total{result=hit}": hits, "program_cache_lookups_total{result=miss}": misses,
		"program_compile_errors_total{}": failures,
	}
	maps.DeleteFunc(want, func(_ string, value float64) bool { return value == 0 })
	p.counts.Expect(t, want)
}

func TestProgramsAreSharedByContent(t *testing.T) {
	p := newTestPrograms(t)
	if program, err := p.Of(nil); program != nil || err != nil {
		t.Errorf("no policy has program %v, error %v", program, err)
	}
	first := p.mustHave(t, fixtures.FailJobOn(42))
	if p.mustHave(t, fixtures.FailJobOn(42)) != first {
		t.Error("the same content is compiled twice")
	}
	if p.mustHave(t, fixtures.FailJobOn(43)) == first {
		t.Error("another content has the same program")
	}
	p.expect(t, 1, 2, 0)
}

func TestProgramsAreTheirOwn(t *testing.T) {
	p := newTestPrograms(t)
	policy := fixtures.FailJobOn(42)
	program := p.mustHave(t, policy)
	policy.Rules[0].OnExitCodes.Values[0] = 1
	explanation, err := program.Explain(t.Context(), runtime.Input{Pod: fixtures.FailedPod("a", 42)}) // compiles once more
	if err != nil {
		t.Fatal(err)
	}
	if got := explanation.Rules[0]; !got.Holds || got.Because != "container main: exit code 42 is in [42]" {
		t.Errorf("after a change to the policy that it was made from, the program says %+v", got)
	}
	if p.mustHave(t, policy) == program {
		t.Error("a changed policy has the old program")
	}
}

func TestProgramsReadPoliciesAsStored(t *testing.T) {
	policy := fixtures.FailJobOn(42)
	policy.Rules = append([]batchv1.PodFailurePolicyRule{{Action: "Explode", OnExitCodes: policy.Rules[0].OnExitCodes}}, policy.Rules...)
	if v := newTestPrograms(t).mustHave(t, policy).Evaluate(t.Context(), fixtures.FailedPod("a", 42)); v.Rule != 1 {
		t.Errorf("an unknown action is not skipped: %+v", v)
	}
}

func TestProgramErrorsAreKept(t *testing.T) {
	p := newTestPrograms(t)
	_, first := p.Of(fixtures.Meaningless())
	_, second := p.Of(fixtures.Meaningless())
	if first == nil || first != second { //nolint:errorlint // it is the same one
		t.Errorf("the errors are %v and %v", first, second)
	}
	p.expect(t, 1, 1, 1)
}

func TestProgramsCompileOnceAtATime(t *testing.T) {
	p := newTestPrograms(t)
	programs := make([]*runtime.Program, 50)
	var group sync.WaitGroup
	for i := range programs {
		group.Go(func() { programs[i], _ = p.Of(fixtures.FailJobOn(42)) })
	}
	group.Wait()
	for _, program := range programs {
		if program == nil || program != programs[0] {
			t.Fatal("there are several programs")
		}
	}
	p.expect(t, 49, 1, 0)
}
