package compiler

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"pgregory.net/rapid"

	"github.com/podverdict/podverdict/internal/kube/kubeversion"
)

// The tree is built rather than parsed (doc.go, "Design"). These tests check that it equals the
// result of parsing and checking its text.

func newEnvironment(t testing.TB, kubernetes string) *Environment {
	t.Helper()
	env, err := NewEnvironment(kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func supportedVersions() []string {
	var versions []string
	for minor := kubeversion.First.Minor(); minor <= kubeversion.Last.Minor(); minor++ {
		versions = append(versions, fmt.Sprintf("%d.%d", kubeversion.First.Major(), minor))
	}
	return versions
}

func compileMatch(t rapid.TB, env *Environment, m Match) CompiledRule {
	t.Helper()
	c, err := env.Compile(&Policy{Rules: []Rule{{Action: "FailJob", Match: m}}})
	if err != nil {
		t.Fatal(err)
	}
	return c.Rules[0]
}

// parseAndCheck returns the checked tree of a text.
func parseAndCheck(t rapid.TB, env *cel.Env, text string) *ast.AST {
	t.Helper()
	parsed, issues := env.Compile(text)
	if issues.Err() != nil {
		t.Fatalf("%s\n%v", text, issues.Err())
	}
	return parsed.NativeRep()
}

// sameWhenParsed compares trees as cel-go prints them: every node with its type and its overload,
// but without node ids.
func sameWhenParsed(t rapid.TB, env *Environment, built CompiledRule) {
	t.Helper()
	text, err := built.Source()
	if err != nil {
		t.Fatal(err)
	}
	parsed := parseAndCheck(t, env.FailedRules, text)
	want, got := checker.Print(parsed.Expr(), parsed), checker.Print(built.AST.Expr(), built.AST)
	if got != want {
		t.Fatalf("%s\nis built as\n%s\nbut parsed as\n%s", text, got, want)
	}
}

func TestBuiltTreeIsTheParsedTree(t *testing.T) {
	for _, version := range supportedVersions() {
		t.Run(version, func(t *testing.T) {
			env := newEnvironment(t, version)
			rapid.Check(t, func(t *rapid.T) {
				sameWhenParsed(t, env, compileMatch(t, env, Matches.Draw(t, "match")))
			})
		})
	}
}

// TestShapesShareTheirTypes checks that an expression with the cached types of its shape has the
// types that its own check would find.
func TestShapesShareTheirTypes(t *testing.T) {
	warm := newEnvironment(t, DefaultVersion)
	rapid.Check(t, func(t *rapid.T) {
		m := Matches.Draw(t, "match")
		compileMatch(t, warm, m)
		shared := compileMatch(t, warm, m).AST
		b := newBuilder()
		fresh, errs := checker.Check(ast.NewAST(b.expression(m), b.info), noSource, warm.check)
		if len(errs.GetErrors()) > 0 {
			t.Fatal(errs.ToDisplayString())
		}
		if got, want := checker.Print(shared.Expr(), shared), checker.Print(fresh.Expr(), fresh); got != want {
			t.Fatalf("shared:\n%s\nfresh:\n%s", got, want)
		}
		if len(shared.TypeMap()) != len(fresh.TypeMap()) || len(shared.ReferenceMap()) != len(fresh.ReferenceMap()) {
			t.Fatalf("shared %d types and %d references, fresh %d and %d", len(shared.TypeMap()),
				len(shared.ReferenceMap()), len(fresh.TypeMap()), len(fresh.ReferenceMap()))
		}
	})
}

// TestShapesAreFewAndShared checks that types are shared, without which TestShapesShareTheirTypes
// would prove nothing, and that the cache is bounded, so that hostile policies cannot fill the
// memory.
func TestShapesAreFewAndShared(t *testing.T) {
	env := newEnvironment(t, DefaultVersion)
	typesOf := func(values ...int32) uintptr {
		return reflect.ValueOf(compileMatch(t, env, ExitCodes{Operator: In, Values: values}).AST.TypeMap()).Pointer()
	}
	if typesOf(1, 2) != typesOf(3, 4) {
		t.Error("two expressions of one shape were checked twice")
	}
	if typesOf(1, 2) == typesOf(1, 2, 3) {
		t.Error("two shapes share their types")
	}
	before := len(env.shapes.known)
	typesOf(make([]int32, MaxValues+1)...)
	compileMatch(t, env, PodConditions{Patterns: patternsOf("A=True", "B=False")})
	if after := len(env.shapes.known); after != before {
		t.Errorf("%d shapes are kept, were %d: illegal lists and mixed statuses must not add any", after, before)
	}
	for n := range 2 * maxShapes {
		compileMatch(t, env, ExitCodes{Operator: Operators[n%2], Values: make([]int32, n/2)})
	}
	if after := len(env.shapes.known); after != maxShapes {
		t.Errorf("%d shapes are kept, at most %d should be", after, maxShapes)
	}
}

func TestCompilingIsDeterministic(t *testing.T) {
	one, other := newEnvironment(t, DefaultVersion), newEnvironment(t, DefaultVersion)
	rapid.Check(t, func(t *rapid.T) {
		m := Matches.Draw(t, "match")
		a, b := compileMatch(t, one, m), compileMatch(t, other, m)
		textA, errA := a.Source()
		textB, errB := b.Source()
		if errA != nil || errB != nil || textA != textB || a.Cost != b.Cost {
			t.Fatalf("%s %v %v\n%s %v %v", textA, a.Cost, errA, textB, b.Cost, errB)
		}
	})
}
