package apiserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// newEnvironment is the environment in which an API server of a minor version compiles
// the expressions of new policies: that of the version before, so that they outlive a
// rollback.
func newEnvironment(kubernetes *version.Version) *environment.EnvSet {
	return environment.MustBaseEnvSet(version.MajorMinor(kubernetes.Major(), kubernetes.Minor()-1))
}

// compileProblems are those that an API server of a minor version has with the
// expressions of a new policy. It compiles them without the types of the objects, and
// with the type that each must have. Match conditions see no variables.
func compileProblems(policy *admissionregistrationv1.ValidatingAdmissionPolicy, kubernetes *version.Version) ([]Problem, error) {
	environments := newEnvironment(kubernetes)
	composited, err := plugincel.NewCompositedCompiler(environments)
	if err != nil {
		return nil, err
	}
	x := expressionsOf(policy)
	var problems []Problem
	check := func(a plugincel.ExpressionAccessor, r plugincel.CompilationResult) {
		if r.Error != nil {
			problems = append(problems, problemsOf(x.fields[a], a.GetExpression(), r.Error)...)
		}
	}
	for _, v := range x.variables {
		check(v, composited.CompileAndStoreVariable(v, x.options, environment.NewExpressions))
	}
	alone := plugincel.NewCompiler(environments)
	var beside plugincel.Compiler = composited
	if len(x.variables) == 0 {
		beside = alone // then there is no name variables
	}
	for _, group := range []struct {
		compiler    plugincel.Compiler
		expressions []plugincel.ExpressionAccessor
		options     plugincel.OptionalVariableDeclarations
	}{
		{alone, x.conditions, x.options},
		{beside, x.validations, x.options},
		{beside, x.messages, x.messageOptions()},
		{beside, x.auditAnnotations, x.options},
	} {
		for _, a := range group.expressions {
			if a != nil {
				check(a, group.compiler.CompileCELExpression(a, group.options, environment.NewExpressions))
			}
		}
	}
	for i := range problems {
		problems[i].Hint = compileHint(problems[i], kubernetes)
	}
	return problems, nil
}

// compileHint says why a name is unknown there that is known elsewhere.
func compileHint(p Problem, kubernetes *version.Version) string {
	match := undeclaredReference.FindStringSubmatch(p.Message)
	switch {
	case match == nil:
		return ""
	case match[1] == plugincel.VariableVarName && strings.HasPrefix(p.FieldRef, "spec.matchConditions["):
		return "match conditions see no variables"
	case match[1] == plugincel.AuthorizerVarName && strings.HasSuffix(p.FieldRef, ".messageExpression"):
		return "messages see no authorizer"
	}
	for minor := kubernetes.Minor(); minor <= environment.DefaultCompatibilityVersion().Minor(); minor++ {
		functions := environment.MustBaseEnvSet(version.MajorMinor(1, minor)).NewExpressionsEnv().Functions()
		if slices.ContainsFunc(slices.Collect(maps.Keys(functions)), func(f string) bool {
			return f == match[1] || strings.HasPrefix(f, match[1]+".")
		}) {
			return fmt.Sprintf("new policies can use it from Kubernetes 1.%d on", minor+1)
		}
	}
	return ""
}
