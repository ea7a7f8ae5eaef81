package custom

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler"
)

// The words of all findings: say is what is wrong, hint is what to do.

// maxQuoted is how many characters of an expression a sentence quotes.
const maxQuoted = 120

func brief(text string) string { return cut(text, maxQuoted) }

func sayTooMany(n int) string { return fmt.Sprintf("%d items: at most %d are allowed", n, MaxItems) }

func sayTooLong(n int) string {
	return fmt.Sprintf("the expression has %d characters: at most %d are allowed", n, MaxExpression)
}

func sayDuplicate(name string) string { return fmt.Sprintf("%q is defined before", name) }

func sayConstruction(name string) string {
	return fmt.Sprintf("an expression cannot make a %s: it asks about those that there are", name)
}

func sayResult(p place, got, want *types.Type) string {
	what := "a match condition"
	switch {
	case strings.HasSuffix(p.path, ".when"):
		what = "when"
	case strings.HasSuffix(p.path, ".messageExpression"):
		what = "messageExpression"
	}
	return fmt.Sprintf("%s must be of type %s, and this is of type %s", what, cel.FormatCELType(want), cel.FormatCELType(got))
}

func hintResult(got, want *types.Type) string {
	switch {
	case isOptional(got):
		return "say what it is without a value: .orValue(...)"
	case want.Kind() == types.StringKind && got.Kind() != types.DynKind && got.Kind() != types.StructKind:
		return "make it a string: string(...)"
	case want.Kind() == types.BoolKind && got.Kind() == types.ListKind:
		return "ask for an element: .exists(c, ...), or .size() > 0"
	default:
		return ""
	}
}

func sayUnexpected(token string) string {
	if token == "<EOF>" {
		return "the expression ends too early"
	}
	return fmt.Sprintf("%q is not expected here", token)
}

func sayNoField(typ, field string) string { return fmt.Sprintf("%s has no field %q", typ, field) }

func hintCall(function string) string {
	return fmt.Sprintf("%s is a function: write %s(...)", function, function)
}

func sayUndeclared(name string) string { return fmt.Sprintf("%q is not defined", name) }

func sayNoFunction(name string) string { return fmt.Sprintf("there is no function %q", name) }

func sayNoFields(typ string) string { return "a value of type " + typ + " has no fields" }

func sayNoElements(typ string) string {
	return "a value of type " + typ + " has no elements: a list or a map is needed here"
}

func hintContainer(container string) string {
	return fmt.Sprintf("a podverdict.Container has it all itself: %s.state, %s.exitCode, %s.reason, %s.message", container, container, container, container)
}

func sayNoOverload(receiver, function, arguments string) string {
	if receiver != "" {
		function = receiver + "." + function
	}
	return fmt.Sprintf("there is no %s(%s)", function, arguments)
}

func hintSignature(signature string) string { return "it is " + signature }

func sayOperator(operator, arguments string) string {
	return fmt.Sprintf("operator %s is not for %s", operator, strings.ReplaceAll(arguments, ", ", " and "))
}

const (
	hintVariables = "variables are used by their names, as in variables.NAME"
	hintNow       = "only rules about phase Pending have it"
	hintCondition = "a match condition is about the job only"
)

func sayNoVariable(name string) string { return fmt.Sprintf("there is no variable %q", name) }

func sayVariableInCondition(name string) string {
	return fmt.Sprintf("match conditions are looked at before variables: %q is not defined here", name)
}

func sayHasVariable(name string) string {
	return fmt.Sprintf("variable %q always has a value: has() is for fields", name)
}

func hintHasVariable(name string) string { return "leave has() out: " + VariableName(name) }

func sayLaterVariable(name string, i int) string {
	return fmt.Sprintf("variable %q is defined later, at spec.variables[%d]", name, i)
}

func hintLaterVariable(name string, before int) string {
	return fmt.Sprintf("move %q before spec.variables[%d]", name, before)
}

func sayCycle(name string, way []string) string {
	if len(way) == 1 {
		return fmt.Sprintf("variable %q uses itself", name)
	}
	return fmt.Sprintf("variables use each other in a circle: %s -> %s", name, strings.Join(way, " -> "))
}

func sayCost(cost, limit uint64) string {
	if cost > maxShownCost {
		return fmt.Sprintf("the expression may cost more than %d, and the limit is %d", maxShownCost, limit)
	}
	return fmt.Sprintf("the expression may cost %d, and the limit is %d", cost, limit)
}

const hintCost = "put fewer loops into each other, or look at fewer and shorter strings in them"

func sayTotalCost(cost uint64) string {
	return fmt.Sprintf("the expressions of the policy may cost %d together, and the limit is %d", cost, compiler.CostBudget)
}

func sayMayBeAbsent(field string) string {
	return brief(field) + " may be absent, which is an error here"
}

func hintMayBeAbsent(rewrite string, questions []string) string {
	ask := "ask " + strings.Join(questions, " && ") + " first"
	if rewrite == "" {
		return ask
	}
	return "write " + rewrite + ", or " + ask
}

func hintValue(optional string) string {
	return "ask " + optional + ".hasValue() first, or say what it is without a value: .orValue(...)"
}

func sayHasOfAbsent(field string) string {
	return fmt.Sprintf("has() looks at its last field only: %s may be absent, which is an error here", brief(field))
}

func hintHasOfAbsent(rewrite string) string { return "write " + rewrite }

func sayNever(cause string) string { return "the rule can never match: " + cause }

func sayNeverTrue(cause string) string { return "this part decides nothing: " + cause }

const causeFalse = "it is always false"

func causeContradiction(atoms []string) string {
	return brief(strings.Join(atoms, " && ")) + " is never true"
}

func causeDomain(atoms []string, operand, domain string) string {
	return fmt.Sprintf("%s is never true: %s is %s", brief(strings.Join(atoms, " && ")), brief(operand), domain)
}

func sayAlways(name string) string {
	return fmt.Sprintf("rule %q matches every pod, so that no rule after it decides", name)
}

const hintAlways = "put it last"

func sayUnreachable(i int, name string) string {
	return fmt.Sprintf("the rule never decides: rule %q (spec.rules[%d]) before it matches every pod", name, i)
}

const hintUnreachable = "move it before that rule, or remove it"

// What keeps a match condition from being one of an admission policy.

const (
	sayHides  = "an admission policy calls the Job object, which is the name of a loop's variable here"
	hintHides = "give that variable another name"
)

func sayNotAdmitted(kind, what string) string {
	if kind == AdmittedCronJob.kind {
		return brief(what) + " is not known when a CronJob is created: its Jobs get theirs later"
	}
	return brief(what) + " is not known when a Job is created, or changes later"
}

func sayUnset(kind, field string) string {
	return fmt.Sprintf("a %s may lack %s, which the API server sets in its Jobs", kind, field)
}

func sayIsText(what string) string {
	return brief(what) + " is a string in admission policies, and not what it is here"
}

func sayWhole(function, what string) string {
	return fmt.Sprintf("%s is a map in admission policies, and no object as here: %s() tells them apart", brief(what), function)
}
