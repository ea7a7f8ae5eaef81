package apiserver

import (
	"context"
	"math"

	celtypes "github.com/google/cel-go/common/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Limits of the API server, in its units of cost (k8s.io/apiserver/pkg/apis/cel).
const (
	// ExpressionLimit is that of a single expression or variable.
	ExpressionLimit = celconfig.PerCallLimit
	// PolicyLimit is that of all validations and their messages, for one binding and
	// one request. All audit annotations have a budget of the same size.
	PolicyLimit = celconfig.RuntimeCELCostBudget
	// MatchConditionsLimit is that of all match conditions.
	MatchConditionsLimit = celconfig.RuntimeCELCostBudgetMatchConditions
)

// Cost is what the API server charges for the evaluation of a policy.
type Cost struct {
	// Matched says that the policy's constraints and conditions let it look at the
	// request; otherwise only match conditions cost anything.
	Matched bool
	// Validations are the validations and, from the same budget, the messages of all of
	// them, whether they hold or not.
	MatchConditions, Validations, AuditAnnotations Budget
}

// Budget is what a group of expressions is charged together.
type Budget struct {
	Used, Limit uint64
	// Charges are those that make up Used, in the order in which the evaluations end.
	// Variables are evaluated when they are first asked for: once for the match
	// conditions, the validations, the messages and the audit annotations each.
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

// Cost measures what a request is charged for. The API server stops at a limit; here,
// only the limit of a single expression stops that expression, with an error.
func (e *Evaluator) Cost(ctx context.Context, r Review) (Cost, error) {
	cost := Cost{
		MatchConditions:  Budget{Limit: MatchConditionsLimit},
		Validations:      Budget{Limit: PolicyLimit},
		AuditAnnotations: Budget{Limit: PolicyLimit},
	}
	in, err := e.input(r)
	if err != nil || !in.matches {
		return cost, err
	}
	if e.filters.conditions != nil {
		results, err := e.charge(ctx, &cost.MatchConditions, e.filters.conditions, in, r)
		if err != nil {
			return cost, err
		}
		for _, result := range results {
			if result.EvalResult != celtypes.True {
				return cost, nil
			}
		}
	}
	cost.Matched = true
	for _, group := range []struct {
		budget *Budget
		filter plugincel.ConditionEvaluator
	}{
		{&cost.Validations, e.filters.validations},
		{&cost.Validations, e.filters.messages},
		{&cost.AuditAnnotations, e.filters.auditAnnotations},
	} {
		if _, err := e.charge(ctx, group.budget, group.filter, in, r); err != nil {
			return cost, err
		}
	}
	return cost, nil
}

// charge evaluates a group of expressions at the expense of a budget.
func (e *Evaluator) charge(ctx context.Context, b *Budget, filter plugincel.ConditionEvaluator, in input, r Review) ([]plugincel.EvaluationResult, error) {
	m := &meter{}
	request := plugincel.CreateAdmissionRequest(in.attributes.Attributes, metav1.GroupVersionResource(in.resource), metav1.GroupVersionKind(in.attributes.VersionedKind))
	results, _, err := filter.ForInput(context.WithValue(ctx, meterKey{}, m), in.attributes, request,
		plugincel.OptionalVariableBindings{VersionedParams: in.params}, plugincel.CreateNamespaceObject(r.Namespace), math.MaxInt64)
	for _, reading := range m.readings {
		b.Used += reading.cost
		b.Charges = append(b.Charges, Charge{Field: e.filters.fields[reading.expression], Used: reading.cost, Err: reading.err})
	}
	return results, err
}
