package compiler

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"unicode/utf8"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/podverdict/podverdict/internal/kube/kubeversion"
)

// maxFuzzed is the maximum size of the policies, so that the parser accepts their text.
const maxFuzzed = 8 << 10

// FuzzCompile passes any policy, as JSON and with any bytes as a container name, to every function
// that accepts one.
func FuzzCompile(f *testing.F) {
	for _, g := range goldenInputs(f) {
		text, err := json.Marshal(g.policy)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "main")
	}
	f.Add([]byte(`{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[1]}}]}`), "\xff\xfe\x00\"'\\\n")
	env := newEnvironment(f, DefaultVersion)
	f.Fuzz(func(t *testing.T, text []byte, container string) {
		var p *batchv1.PodFailurePolicy
		if len(text)+len(container) > maxFuzzed || json.Unmarshal(text, &p) != nil {
			return
		}
		if p != nil && len(p.Rules) > 0 && p.Rules[0].OnExitCodes != nil {
			p.Rules[0].OnExitCodes.ContainerName = &container
		}
		compiled, err := env.Compile(StoredPolicy(p))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range compiled.Rules {
			if m, ok := r.Match.(ExitCodes); !ok || m.Container == nil || utf8.ValidString(*m.Container) {
				sameWhenParsed(t, env, r)
			} else if _, err := r.Source(); err != nil {
				t.Error(err)
			}
		}
		fuzzLegality(t, env, p)
		Lint(&batchv1.Job{Spec: batchv1.JobSpec{PodFailurePolicy: p}}, kubeversion.Last)
	})
}

// fuzzLegality checks NewPolicy against another formulation of the API's validation.
func fuzzLegality(t *testing.T, env *Environment, p *batchv1.PodFailurePolicy) {
	t.Helper()
	policy, err := NewPolicy(p)
	if err != nil {
		if refused := (*PolicyError)(nil); !errors.As(err, &refused) || len(refused.Errors) == 0 || err.Error() == "" {
			t.Errorf("%T: %v", err, err)
		}
		return
	}
	compiled, err := env.Compile(policy)
	if err != nil {
		t.Fatal(err)
	}
	if len(compiled.Rules) > 20 {
		t.Errorf("%d rules are legal", len(compiled.Rules))
	}
	for i, r := range compiled.Rules {
		if !isLegal(r.Match) {
			t.Errorf("rule %d is legal: %v", i, r.Match)
		}
		if r.Cost > CostLimit && namesAreLegal(r.Match) {
			t.Errorf("rule %d costs %d", i, r.Cost)
		}
	}
}

// namesAreLegal reports whether a container with that name can exist, which the policy itself does
// not determine.
func namesAreLegal(m Match) bool {
	exit, ok := m.(ExitCodes)
	return !ok || exit.Container == nil || len(validation.IsDNS1123Label(*exit.Container)) == 0
}

func isLegal(m Match) bool {
	switch m := m.(type) {
	case ExitCodes:
		sorted := slices.Compact(slices.Sorted(slices.Values(m.Values)))
		return len(m.Values) > 0 && len(m.Values) <= 255 && slices.Equal(sorted, m.Values) &&
			(m.Operator == NotIn || !slices.Contains(m.Values, 0))
	case PodConditions:
		for _, p := range m.Patterns {
			known := p.Status == "True" || p.Status == "False" || p.Status == "Unknown"
			if !known || len(validation.IsQualifiedName(string(p.Type))) > 0 {
				return false
			}
		}
		return len(m.Patterns) > 0 && len(m.Patterns) <= 20
	default:
		return false
	}
}
