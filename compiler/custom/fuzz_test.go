package custom_test

import (
	"errors"
	"testing"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
)

// FuzzCompile compiles any text as a rule, a variable and a message. Every error must have a
// position.
func FuzzCompile(f *testing.F) {
	for _, spec := range fixtures.SpecsIn(f, "testdata/findings") {
		for _, r := range spec.Rules {
			f.Add(r.When)
		}
	}
	env := newEnvironment(f)
	f.Fuzz(func(t *testing.T, text string) {
		spec := rules(text)
		spec.Variables = []v1alpha1.Variable{{Name: "v", Expression: text}}
		spec.Rules[0].MessageExpression = text
		policy, err := custom.Compile(env, spec)
		if err == nil {
			t.Fatalf("%q is a bool and a string: %+v", text, policy)
		}
		checkPlaces(t, err)
		if policy, err = custom.Compile(env, rules(text)); err != nil {
			checkPlaces(t, err)
			return
		}
		for _, f := range policy.Warnings {
			checkPlace(t, f)
		}
	})
}

func checkPlaces(t *testing.T, err error) {
	t.Helper()
	var invalid *custom.Error
	if !errors.As(err, &invalid) || err.Error() == "" {
		t.Fatalf("%T without an error: %v", err, err)
	}
	for _, f := range invalid.Findings {
		checkPlace(t, f)
	}
}
