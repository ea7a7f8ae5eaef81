package custom_test

import (
	"fmt"
	"testing"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
)

func newEnvironment(tb testing.TB) *compiler.Environment {
	tb.Helper()
	env, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		tb.Fatal(err)
	}
	return env
}

func rules(when ...string) *v1alpha1.PodFailurePolicySpec {
	spec := &v1alpha1.PodFailurePolicySpec{FailurePolicy: v1alpha1.FailurePolicyFail} // so errors are reported
	for i, w := range when {
		spec.Rules = append(spec.Rules, v1alpha1.Rule{Name: fmt.Sprintf("r%d", i), When: w, Action: "FailJob"})
	}
	return spec
}

func compile(tb testing.TB, env *compiler.Environment, spec *v1alpha1.PodFailurePolicySpec) *custom.Policy {
	tb.Helper()
	policy, err := custom.Compile(env, spec)
	if err != nil {
		tb.Fatal(err)
	}
	return policy
}
