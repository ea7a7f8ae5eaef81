package compiler

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

// patternsOf reads Type=Status.
func patternsOf(texts ...string) []batchv1.PodFailurePolicyOnPodConditionsPattern {
	var patterns []batchv1.PodFailurePolicyOnPodConditionsPattern
	for _, text := range texts {
		typ, status, _ := strings.Cut(text, "=")
		patterns = append(patterns, batchv1.PodFailurePolicyOnPodConditionsPattern{
			Type: corev1.PodConditionType(typ), Status: corev1.ConditionStatus(status),
		})
	}
	return patterns
}

// What is recognized need not be the very match: patterns may have been sorted by
// status. It means the same when it is written the same.
func TestWrittenExpressionsAreRecognized(t *testing.T) {
	env := newEnvironment(t, DefaultVersion)
	rapid.Check(t, func(t *rapid.T) {
		rule := compileMatch(t, env, Matches.Draw(t, "match"))
		want, err := rule.Source()
		if err != nil {
			t.Fatal(err)
		}
		m, ok := Recognize(rule.AST.Expr())
		if !ok {
			t.Fatalf("not recognized: %s", want)
		}
		if got, err := compileMatch(t, env, m).Source(); err != nil || got != want {
			t.Fatalf("recognized %#v\nwrites %s\nwanted %s\n%v", m, got, want, err)
		}
	})
}

func TestTextOfWrittenExpressionsIsRecognized(t *testing.T) {
	env := newEnvironment(t, DefaultVersion)
	rapid.Check(t, func(t *rapid.T) {
		text, err := compileMatch(t, env, Matches.Draw(t, "match")).Source()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := Recognize(parseAndCheck(t, env.CEL, text).Expr()); !ok {
			t.Fatalf("not recognized: %s", text)
		}
	})
}

const (
	named = `.exists(c, c.?state.?terminated.?exitCode.orValue(0) != 0 && c.name == "main" && c.state.terminated.exitCode in [1, 2])`
	notIn = `.exists(c, c.?state.?terminated.?exitCode.orValue(0) != 0 && !(c.state.terminated.exitCode in [1, 2]))`
	apps  = `pod.?status.?containerStatuses.orValue([])`
	inits = `pod.?status.?initContainerStatuses.orValue([])`

	exitText      = apps + named + " || " + inits + named
	notInText     = apps + notIn + " || " + inits + notIn
	conditionText = `pod.?status.?conditions.orValue([]).exists(c, c.status == "True" && c.type in ["A", "B"] || ` +
		`c.status == "False" && c.type in ["C"])`
)

// Expressions that differ from a canonical one in one place each, and are legal
// CEL. One that is recognized would be evaluated as what it is not.
func TestVariantsAreNotRecognized(t *testing.T) {
	replace := strings.NewReplacer
	tests := []struct {
		name, text string
		edit       *strings.Replacer
	}{
		{"exit code tested last", exitText, replace(`c.?state.?terminated.?exitCode.orValue(0) != 0 && c.name == "main"`, `c.name == "main" && c.?state.?terminated.?exitCode.orValue(0) != 0`)},
		{"== instead of in", exitText, replace(`in [1, 2]`, `== 1`)},
		{"another variable", exitText, replace("exists(c,", "exists(d,", "c.?state", "d.?state", "c.state", "d.state", "c.name", "d.name")},
		{"an extra guard", exitText, replace(`in [1, 2]`, `in [1, 2] && c.name != "x"`)},
		{"all instead of exists", exitText, replace(".exists(", ".all(")},
		{"exists_one instead of exists", exitText, replace(".exists(", ".exists_one(")},
		{"has instead of an optional", exitText, replace("c.?state.?terminated.?exitCode.orValue(0) != 0", "has(c.state.terminated) && c.state.terminated.exitCode != 0")},
		{"app containers alone", exitText, replace(" || "+inits+named, "")},
		{"app containers twice", exitText, replace(inits, apps)},
		{"both lists joined", exitText, replace(apps+named+" || "+inits, "("+apps+" + "+inits+")")},
		{"and instead of or between lists", exitText, replace(" || ", " && ")},
		{"a third list", exitText, replace(exitText, exitText+" || "+apps+named)},
		{"codes that differ", exitText, replace(inits+named, inits+strings.Replace(named, "[1, 2]", "[1]", 1))},
		{"init containers first", exitText, replace("?containerStatuses", "?initContainerStatuses", "?initContainerStatuses", "?containerStatuses")},
		{"exit code 0 included", exitText, replace("orValue(0) != 0", "orValue(0) != 1")},
		{"a code above int32", exitText, replace("[1, 2]", "[4294967297, 2]")},
		{"a code below int32", exitText, replace("[1, 2]", "[-2147483649, 2]")},
		{"a code that is not a literal", exitText, replace("[1, 2]", "[1, 1 + 1]")},
		{"an optional code", exitText, replace("[1, 2]", "[1, ?optional.of(2)]")},
		{"a name of another thing", exitText, replace(`c.name == "main"`, `c.name + "" == "main"`)},
		{"negated name", exitText, replace(`c.name == "main"`, `c.name != "main"`)},
		{"two names", exitText, replace(`c.name == "main"`, `c.name == "main" && c.name == "side"`)},
		{"a negation too many", notInText, replace("!(c.state.terminated.exitCode in [1, 2])", "!(!(c.state.terminated.exitCode in [1, 2]))")},
		{"negated altogether", exitText, replace(exitText, "!("+exitText+")")},
		{"nested", exitText, replace(exitText, "true && ("+exitText+")")},
		{"parts in another order", conditionText, replace(`c.status == "True" && c.type in ["A", "B"]`, `c.type in ["A", "B"] && c.status == "True"`)},
		{"one status twice", conditionText, replace(`"False"`, `"True"`)},
		{"status and type exchanged", conditionText, replace("c.status ==", "c.type ==", "c.type in", "c.status in")},
		{"and instead of or", conditionText, replace("||", "&&")},
		{"true", "true", replace()},
		{"a constant that is not a boolean", "0 == 0", replace()},
	}
	env := newEnvironment(t, DefaultVersion)
	for _, canonical := range []string{exitText, notInText, conditionText, "false"} {
		if _, ok := Recognize(parseAndCheck(t, env.CEL, canonical).Expr()); !ok {
			t.Errorf("not recognized: %s", canonical)
		}
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			variant := test.edit.Replace(test.text)
			if m, ok := Recognize(parseAndCheck(t, env.CEL, variant).Expr()); ok {
				t.Errorf("recognized as %#v: %s", m, variant)
			}
		})
	}
}

// The guess cuts codes off to 32 bits; the comparison must not.
func TestLargeCodesAreNotCutOff(t *testing.T) {
	env := newEnvironment(t, DefaultVersion)
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.Int64().Draw(t, "code")
		b := newBuilder()
		want := ExitCodes{Values: []int32{int32(code)}}
		text, err := compileMatch(t, env, want).Source()
		if err != nil {
			t.Fatal(err)
		}
		e := parseAndCheck(t, env.CEL, strings.ReplaceAll(text, fmt.Sprintf("[%d]", int32(code)), fmt.Sprintf("[%d]", code))).Expr()
		_, ok := Recognize(e)
		if fits := code >= math.MinInt32 && code <= math.MaxInt32; ok != fits || same(e, b.expression(want)) != fits {
			t.Fatalf("code %d: recognized %t", code, ok)
		}
	})
}

// Only a parser writes exists as it should be; here one part of it is another.
func TestEveryPartOfExistsCounts(t *testing.T) {
	b := newBuilder()
	c := b.expression(PodConditions{Patterns: patternsOf("A=True")}).AsComprehension()
	rebuilt := func(change func(parts *[5]ast.Expr), iterVar, iterVar2, accuVar string) ast.Expr {
		parts := [5]ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()}
		change(&parts)
		return b.NewComprehensionTwoVar(b.id(), parts[0], iterVar, iterVar2, accuVar, parts[1], parts[2], parts[3], parts[4])
	}
	same := func(*[5]ast.Expr) {}
	if _, ok := Recognize(rebuilt(same, c.IterVar(), c.IterVar2(), c.AccuVar())); !ok {
		t.Error("not recognized as it should be")
	}
	variants := map[string]ast.Expr{
		"element":     rebuilt(same, "d", c.IterVar2(), c.AccuVar()),
		"index":       rebuilt(same, c.IterVar(), "i", c.AccuVar()),
		"accumulator": rebuilt(same, c.IterVar(), c.IterVar2(), "found"),
	}
	for i, part := range []string{"range", "initial value", "loop condition", "loop step", "result"} {
		// A call keeps what is inside, so that the guess is still right.
		change := func(parts *[5]ast.Expr) { parts[i] = b.call(operators.LogicalNot, parts[i]) }
		variants[part] = rebuilt(change, c.IterVar(), c.IterVar2(), c.AccuVar())
	}
	for part, variant := range variants {
		if m, ok := Recognize(variant); ok {
			t.Errorf("with another %s, recognized as %#v", part, m)
		}
	}
}
