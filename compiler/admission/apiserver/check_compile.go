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

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// newEnvironment returns the environment in which an API server of a minor version compiles the
// expressions of new policies: the environment of the previous minor version, so that the
// expressions survive a rollback.
func newEnvironment(kubernetes *version.Version) *environment.EnvSet {
	return environment.MustBaseEnvSet(version.MajorMinor(kubernetes.Major(), kubernetes.Minor()-1))
}

// expressionProblems compiles each expression of a new policy twice: once with the objects' types,
// like the API server's type checker, and once without them but with the expected result type, like
// an API server of the given minor version. Match conditions cannot use variables.
func expressionProblems(policy *admissionregistrationv1.ValidatingAdmissionPolicy, object kind.Kind, kubernetes *version.Version) ([]Problem, error) {
	environments := newEnvironment(kubernetes)
	untyped, err := plugincel.NewCompositedCompiler(environments)
	if err != nil {
		return nil, err
	}
	typed, err := newTypedCompiler(object)
	if err != nil {
		return nil, err
	}
	alone := plugincel.NewCompiler(environments)
	beside := alone // without variables, the name "variables" is undeclared
	if len(policy.Spec.Variables) > 0 {
		beside = untyped
	}
	x := expressionsOf(policy)
	c := collection{typed: typed, kubernetes: kubernetes}
	compile := func(compiler plugincel.Compiler, options plugincel.OptionalVariableDeclarations, all ...*expression) {
		for _, e := range all {
			c.add(e, typed.CompileCELExpression(e, options, environment.StoredExpressions), compiler.CompileCELExpression(e, options, environment.NewExpressions))
		}
	}
	for _, v := range x.variables {
		c.add(v, typed.variables.CompileAndStoreVariable(v, everything, environment.StoredExpressions),
			untyped.CompileAndStoreVariable(v, everything, environment.NewExpressions))
	}
	compile(alone, everything, x.conditions...)
	for i := range x.validations {
		compile(beside, everything, x.validations[i])
		compile(beside, ofMessages, x.messages[i])
	}
	compile(beside, everything, x.auditAnnotations...)
	return c.problems, nil
}

// collection collects the problems of expressions.
type collection struct {
	typed      *typedCompiler
	kubernetes *version.Version
	problems   []Problem
}

// add adds the problems of one expression. If both compilers report a problem at the same position,
// add keeps the typed one. A missing expression is skipped: it is a problem of the policy itself.
func (c *collection) add(e *expression, typed, untyped plugincel.CompilationResult) {
	if strings.TrimSpace(e.text) == "" {
		return
	}
	found := problemsOf(e.field, e.text, typed.Error)
	for i, p := range found {
		found[i].Hint = c.typed.hint(p)
	}
	for _, p := range problemsOf(e.field, e.text, untyped.Error) {
		if !slices.ContainsFunc(found, func(q Problem) bool { return q.Line == p.Line && q.Column == p.Column }) {
			p.Hint = compileHint(p, c.kubernetes)
			found = append(found, p)
		}
	}
	c.problems = append(c.problems, found...)
}

// compileHint explains why a name that exists elsewhere is undeclared in this expression.
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
