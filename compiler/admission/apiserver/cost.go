package apiserver

import (
	"context"
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
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

// Cost measures what a request is charged for that the policy's constraints admit, whatever
// the match conditions say. The API server stops at PolicyLimit; here, only the limit of a
// single expression stops that expression, with an error.
func (e *Evaluator) Cost(ctx context.Context, r Review) (Cost, error) {
	in, err := e.input(r)
	if err != nil || !in.matches {
		return Cost{}, err
	}
	m := &meter{}
	ctx = context.WithValue(ctx, meterKey{}, m)
	request := plugincel.CreateAdmissionRequest(in.attributes.Attributes, metav1.GroupVersionResource(in.resource), metav1.GroupVersionKind(in.attributes.VersionedKind))
	for _, group := range []plugincel.ConditionEvaluator{e.filters.validations, e.filters.messages} {
		_, _, err := group.ForInput(ctx, in.attributes, request,
			plugincel.OptionalVariableBindings{VersionedParams: in.params}, plugincel.CreateNamespaceObject(r.Namespace), math.MaxInt64)
		if err != nil {
			return Cost{}, err
		}
	}
	cost := Cost{}
	for _, reading := range m.readings {
		cost.Used += reading.cost
		cost.Charges = append(cost.Charges, Charge{Field: e.filters.fields[reading.expression], Used: reading.cost, Err: reading.err})
	}
	return cost, nil
}
