package apiserver

import (
	"context"
	"math"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Limits of the API server, in its units of cost (k8s.io/apiserver/pkg/apis/cel).
const (
	// ExpressionLimit is the limit of a single expression or variable.
	ExpressionLimit = celconfig.PerCallLimit
	// PolicyLimit is the limit of all validations and their messages, for one binding and
	// one request.
	PolicyLimit = celconfig.RuntimeCELCostBudget
)

// Cost is what the API server charges for the validations of a policy and, from the same
// budget, for the messages of all of them, whether they hold or not.
type Cost struct {
	Used uint64
	// Charges are those that make up Used, in the order in which the evaluations end. A
	// variable is evaluated when it is first asked for: once for the validations and once
	// for the messages.
	Charges []Charge
}

// Charge is the cost of one evaluation of an expression, of which the limit is
// ExpressionLimit.
type Charge struct {
	// Field is the place of the expression in the policy: spec.variables[0].expression.
	Field string
	Used  uint64
	// Err is why the evaluation ended without a value.
	Err error
}

// Meter measures what the API server charges for a policy. It compiles the policy once, and is safe for concurrent use.
type Meter struct {
	validations, messages plugincel.ConditionEvaluator
}

// NewMeter compiles the validations of a policy, their messages and its variables, as an API server does with a policy that
// it has stored. The error is a *CheckError if they do not compile; nothing else is checked.
func NewMeter(policy *admissionregistrationv1.ValidatingAdmissionPolicy) (*Meter, error) {
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return nil, err
	}
	metered := &meteredCompiler{compiler: compiler.Compiler}
	compiler.Compiler, compiler.ConditionCompiler = metered, metered
	x := expressionsOf(policy)
	for _, v := range x.variables {
		compiler.CompileAndStoreVariable(v, x.options, environment.StoredExpressions)
	}
	m := &Meter{
		validations: compiler.CompileCondition(accessors(x.validations), x.options, environment.StoredExpressions),
		messages:    compiler.CompileCondition(accessors(x.messages), x.messageOptions(), environment.StoredExpressions),
	}
	return m, newCheckError(metered.problems)
}

// Cost measures what a request is charged for, whatever the match constraints and match conditions of the policy say. The
// API server stops at PolicyLimit; here, only the limit of a single expression stops that expression, with an error.
func (m *Meter) Cost(ctx context.Context, r Review) (Cost, error) {
	attributes, params, err := r.Attributes()
	if err != nil {
		return Cost{}, err
	}
	var cost Cost
	ctx = context.WithValue(ctx, chargesKey{}, &cost.Charges)
	request := plugincel.CreateAdmissionRequest(attributes.Attributes, metav1.GroupVersionResource(attributes.GetResource()), metav1.GroupVersionKind(attributes.VersionedKind))
	for _, group := range []plugincel.ConditionEvaluator{m.validations, m.messages} {
		_, _, err := group.ForInput(ctx, attributes, request,
			plugincel.OptionalVariableBindings{VersionedParams: params}, plugincel.CreateNamespaceObject(r.Namespace), math.MaxInt64)
		if err != nil {
			return Cost{}, err
		}
	}
	for _, charge := range cost.Charges {
		cost.Used += charge.Used
	}
	return cost, nil
}
