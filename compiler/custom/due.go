package custom

import (
	"slices"
	"time"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
)

// Due describes when the value of a rule can change through the passage of time only. The zero value means never.
type Due struct {
	// Polled reports whether the rule uses now in a way that cannot be analyzed: its value may change at any time.
	Polled bool
	// Ages are the ages of a pod at which comparisons in the rule change their value.
	Ages []DueAge
}

// DueAge is an age of a pod as returned by a function of cel.Ages.
type DueAge struct {
	Function string
	At       time.Duration
}

// Next returns the first time after now at which one of the comparisons changes its value. It is zero if there is none.
func (d Due) Next(pod *corev1.Pod, now time.Time) (next time.Time) {
	for _, age := range d.Ages {
		since := cel.Ages[age.Function].Since(pod)
		if at := since.Add(age.At); !since.IsZero() && at.After(now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// due finds the comparisons of a pod's age with constants, as in pod.runningFor(now) > duration('10m'). If now is used only in
// these, the rule's value can change only when one of the comparisons does.
func (c *compilation) due(e ast.Expr) (d Due) {
	compared := map[int64]bool{} // uses of now
	Visit(e, nil, func(e ast.Expr, locals []string) {
		switch {
		case e.Kind() == ast.CallKind:
			shadowed := slices.Contains(locals, compiler.PodVariable) || slices.Contains(locals, compiler.NowVariable)
			if ages, now := c.comparison(e.AsCall()); now != 0 && !shadowed {
				d.Ages, compared[now] = append(d.Ages, ages...), true
			}
		case isIdent(e, compiler.NowVariable) && !slices.Contains(locals, compiler.NowVariable):
			d.Polled = d.Polled || !compared[e.ID()]
		}
	})
	if d.Polled {
		d.Ages = nil
	}
	return d
}

// afterLimit is the delay after the compared age until a comparison changes its value: the first entry if the age is on the
// left, the second if it is on the right.
var afterLimit = map[string][2]time.Duration{
	operators.Greater:       {1, 0},
	operators.LessEquals:    {1, 0},
	operators.GreaterEquals: {0, 1},
	operators.Less:          {0, 1},
}

// comparison returns the ages at which a comparison of an age with constants changes its value, and the id of the node that uses
// now. The id is 0 for all other calls.
func (c *compilation) comparison(call ast.CallExpr) (ages []DueAge, now int64) {
	after, compares := afterLimit[call.FunctionName()]
	if !compares {
		return nil, 0
	}
	for i, age := range call.Args() {
		function, now := ageOf(age)
		if now == 0 {
			continue
		}
		limits, constant := c.durations(call.Args()[1-i])
		if !constant {
			return nil, 0
		}
		for _, limit := range limits {
			ages = append(ages, DueAge{function, limit + after[i]})
		}
		return ages, now
	}
	return nil, 0
}

// ageOf returns the name of a cel.Ages function that is called on the pod with now, and the id of the node that uses now.
func ageOf(e ast.Expr) (function string, now int64) {
	if e.Kind() != ast.CallKind || !e.AsCall().IsMemberFunction() || !isIdent(e.AsCall().Target(), compiler.PodVariable) {
		return "", 0
	}
	call := e.AsCall()
	if _, found := cel.Ages[call.FunctionName()]; !found || !isIdent(call.Args()[0], compiler.NowVariable) {
		return "", 0
	}
	return call.FunctionName(), call.Args()[0].ID()
}

// durations returns the possible values of an expression if they are durations that the policy defines as constants.
func (c *compilation) durations(e ast.Expr) (values []time.Duration, constant bool) {
	switch {
	case isCall(e, overloads.TypeConvertDuration) && e.AsCall().Args()[0].Kind() == ast.LiteralKind:
		text, _ := e.AsCall().Args()[0].AsLiteral().Value().(string)
		value, err := time.ParseDuration(text)
		return []time.Duration{value}, err == nil
	case isCall(e, operators.Conditional):
		then, both := c.durations(e.AsCall().Args()[1])
		otherwise, constant := c.durations(e.AsCall().Args()[2])
		return append(then, otherwise...), both && constant
	}
	for _, v := range c.variables {
		if isIdent(e, VariableName(v.name)) && v.tree != nil {
			return c.durations(v.tree.Expr())
		}
	}
	return nil, false
}

func isIdent(e ast.Expr, name string) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }
