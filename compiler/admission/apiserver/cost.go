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

// PolicyLimit is the API server's limit of what all validations of a policy and their messages may cost, for one binding and
// one request, in its units of cost (k8s.io/apiserver/pkg/apis/cel).
const PolicyLimit = celconfig.RuntimeCELCostBudget

// Meter measures what the API server charges for a policy. It compiles the policy once, and is safe for concurrent use.
type Meter struct {
	validations, messages plugincel.ConditionEvaluator
}

// NewMeter compiles the validations of a policy, their messages and its variables, as an API server does with a policy that
// it has stored. The error says which of them do not compile; nothing else is checked.
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

// Cost measures what a request is charged for the validations and, from the same budget, for the messages of all of them,
// whether they hold or not, and whatever the match constraints and match conditions of the policy say. The API server stops at
// PolicyLimit; here, only the limit of a single expression stops that expression.
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
