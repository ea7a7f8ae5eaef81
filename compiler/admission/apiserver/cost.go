package apiserver

import (
	"context"
	"errors"
	"math"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// PolicyLimit is the API server's cost limit for all validations and messages of a policy, per binding and request, in CEL
// cost units (k8s.io/apiserver/pkg/apis/cel).
const PolicyLimit = celconfig.RuntimeCELCostBudget

// Meter measures the cost that the API server charges for evaluating a policy. It compiles the policy once, and is safe for
// concurrent use.
type Meter struct {
	validations, messages plugincel.ConditionEvaluator
}

// NewMeter compiles the validations, messages and variables of a policy, as an API server does for a stored policy. The error
// lists those that do not compile; NewMeter checks nothing else.
func NewMeter(policy *admissionregistrationv1.ValidatingAdmissionPolicy) (*Meter, error) {
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return nil, err
	}
	x := expressionsOf(policy)
	for _, v := range x.variables {
		compiler.CompileAndStoreVariable(v, everything, environment.StoredExpressions)
	}
	m := &Meter{
		validations: compiler.CompileCondition(accessors(x.validations), everything, environment.StoredExpressions),
		messages:    compiler.CompileCondition(accessors(x.messages), ofMessages, environment.StoredExpressions),
	}
	return m, errors.Join(append(m.validations.CompilationErrors(), m.messages.CompilationErrors()...)...)
}

// Cost returns the cost of evaluating all validations and, from the same budget, all their messages for a request, regardless
// of whether the validations hold. It ignores the policy's match constraints and match conditions. The API server stops at
// PolicyLimit; Cost only applies the limit of a single expression.
func (m *Meter) Cost(ctx context.Context, r Review) (uint64, error) {
	attributes, err := r.Attributes()
	if err != nil {
		return 0, err
	}
	request := plugincel.CreateAdmissionRequest(attributes.Attributes, metav1.GroupVersionResource(attributes.GetResource()), metav1.GroupVersionKind(attributes.VersionedKind))
	left := int64(math.MaxInt64)
	for _, group := range []plugincel.ConditionEvaluator{m.validations, m.messages} {
		_, left, err = group.ForInput(ctx, attributes, request,
			plugincel.OptionalVariableBindings{}, plugincel.CreateNamespaceObject(r.Namespace), left)
		if err != nil {
			return 0, err
		}
	}
	return uint64(math.MaxInt64 - left), nil
}
