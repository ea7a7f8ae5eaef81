package apiserver

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"
)

// filters are the compiled expressions of a policy, as the API server groups them.
type filters struct {
	// conditions is nil if there is no match condition.
	conditions, validations, messages, auditAnnotations plugincel.ConditionEvaluator
	// fields are the places of all expressions in the policy.
	fields map[plugincel.ExpressionAccessor]string
}

// compileFilters compiles a policy for evaluation, as an API server does with a policy
// that it has stored.
func compileFilters(policy *admissionregistrationv1.ValidatingAdmissionPolicy) (filters, error) {
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return filters{}, err
	}
	metered := &meteredCompiler{compiler: compiler.Compiler}
	compiler.Compiler, compiler.ConditionCompiler = metered, metered

	x := expressionsOf(policy)
	for _, v := range x.variables {
		compiler.CompileAndStoreVariable(v, x.options, environment.StoredExpressions)
	}
	f := filters{
		validations:      compiler.CompileCondition(x.validations, x.options, environment.StoredExpressions),
		messages:         compiler.CompileCondition(x.messages, x.messageOptions(), environment.StoredExpressions),
		auditAnnotations: compiler.CompileCondition(x.auditAnnotations, x.options, environment.StoredExpressions),
		fields:           x.fields,
	}
	if len(x.conditions) > 0 {
		f.conditions = compiler.CompileCondition(x.conditions, x.options, environment.StoredExpressions)
	}
	var problems []Problem
	for _, r := range metered.failed {
		problems = append(problems, problemsOf(f.fields[r.ExpressionAccessor], r.ExpressionAccessor.GetExpression(), r.Error)...)
	}
	return f, newCheckError(problems)
}

// matcher returns what decides whether the match conditions hold, or nil if there are
// none.
func (f filters) matcher(policy *admissionregistrationv1.ValidatingAdmissionPolicy) matchconditions.Matcher {
	if f.conditions == nil {
		return nil
	}
	return matchconditions.NewMatcher(f.conditions, policy.Spec.FailurePolicy, "policy", "validate", policy.Name)
}

// expressions are a policy's expressions, with the types that the API server requires of
// each.
type expressions struct {
	variables                                           []*validating.Variable
	conditions, validations, messages, auditAnnotations []plugincel.ExpressionAccessor
	options                                             plugincel.OptionalVariableDeclarations
	fields                                              map[plugincel.ExpressionAccessor]string
}

// messageOptions returns the options of messageExpressions, which do not see the
// authorizer.
func (x expressions) messageOptions() plugincel.OptionalVariableDeclarations {
	return plugincel.OptionalVariableDeclarations{HasParams: x.options.HasParams}
}

func expressionsOf(policy *admissionregistrationv1.ValidatingAdmissionPolicy) expressions {
	spec := policy.Spec
	x := expressions{
		options: plugincel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true},
		fields:  map[plugincel.ExpressionAccessor]string{},
	}
	at := func(a plugincel.ExpressionAccessor, format string, index int) plugincel.ExpressionAccessor {
		x.fields[a] = fmt.Sprintf("spec."+format, index)
		return a
	}
	for i, v := range spec.Variables {
		variable := &validating.Variable{Name: v.Name, Expression: v.Expression}
		at(variable, "variables[%d].expression", i)
		x.variables = append(x.variables, variable)
	}
	for i := range spec.MatchConditions {
		c := matchconditions.MatchCondition(spec.MatchConditions[i])
		x.conditions = append(x.conditions, at(&c, "matchConditions[%d].expression", i))
	}
	for i, v := range spec.Validations {
		x.validations = append(x.validations, at(&validating.ValidationCondition{
			Expression: v.Expression, Message: v.Message, Reason: v.Reason,
		}, "validations[%d].expression", i))
		if v.MessageExpression == "" {
			x.messages = append(x.messages, nil) // keeps the place of the validation
			continue
		}
		x.messages = append(x.messages, at(&validating.MessageExpressionCondition{
			MessageExpression: v.MessageExpression,
		}, "validations[%d].messageExpression", i))
	}
	for i, a := range spec.AuditAnnotations {
		x.auditAnnotations = append(x.auditAnnotations, at(&validating.AuditAnnotationCondition{
			Key: a.Key, ValueExpression: a.ValueExpression,
		}, "auditAnnotations[%d].valueExpression", i))
	}
	return x
}
