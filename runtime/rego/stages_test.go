package rego

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
)

// TestNeedlessStages compares the rules compiled without the needless stages with the rules compiled with
// all stages.
func TestNeedlessStages(t *testing.T) {
	read := func() *bundle.Bundle {
		b, err := asked(Options{Guardrails: true, Warnings: true})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	whole := ast.NewCompiler().WithDefaultRegoVersion(ast.RegoV1)
	if whole.Compile(read().ParsedModules("")); whole.Failed() {
		t.Fatal(whole.Errors)
	}
	p, err := compile(read(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(whole.Modules) < 10 {
		t.Fatalf("%d modules", len(whole.Modules))
	}
	for name, want := range whole.Modules {
		if diff := cmp.Diff(want.String(), p.compiler.Modules[name].String()); diff != "" {
			t.Errorf("%s (-all stages +ours):\n%s", name, diff)
		}
	}
}
