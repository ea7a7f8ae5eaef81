package evaluator

import (
	"context"
	"fmt"
	_ "unsafe" // for go:linkname

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/podverdict/podverdict/compiler/admission/apiserver"
)

// Evaluator answers requests for one ValidatingAdmissionPolicy like the API server, using the server's own packages. It
// ignores bindings and parameters. It compiles the policy once, and is safe for concurrent use.
type Evaluator struct {
	definition generic.PolicyAccessor
	objects    admission.ObjectInterfaces
	validator  validating.Validator
}

// New compiles a policy. An expression that does not compile is an error of each decision.
func New(policy *admissionregistrationv1.ValidatingAdmissionPolicy) *Evaluator {
	policy = defaulted(policy)
	return &Evaluator{
		definition: validating.NewValidatingAdmissionPolicyAccessor(policy),
		objects:    admission.NewObjectInterfacesFromScheme(runtime.NewScheme()),
		validator:  compilePolicy(policy),
	}
}

// compilePolicy is the API server's own function, see pkg/admission/plugin/policy/validating/plugin.go. It is not
// exported.
//
//go:linkname compilePolicy k8s.io/apiserver/pkg/admission/plugin/policy/validating.compilePolicy
func compilePolicy(policy *validating.Policy) validating.Validator

// defaulted returns a policy with the API server's defaults.
func defaulted(policy *admissionregistrationv1.ValidatingAdmissionPolicy) *admissionregistrationv1.ValidatingAdmissionPolicy {
	policy = policy.DeepCopy()
	setDefault(&policy.Spec.FailurePolicy, admissionregistrationv1.Fail)
	if c := policy.Spec.MatchConstraints; c != nil {
		setDefault(&c.MatchPolicy, admissionregistrationv1.Equivalent)
		setDefault(&c.NamespaceSelector, metav1.LabelSelector{})
		setDefault(&c.ObjectSelector, metav1.LabelSelector{})
		for _, rules := range [][]admissionregistrationv1.NamedRuleWithOperations{c.ResourceRules, c.ExcludeResourceRules} {
			for i := range rules {
				setDefault(&rules[i].Scope, admissionregistrationv1.AllScopes)
			}
		}
	}
	return policy
}

func setDefault[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}

// Evaluate decides on a request. The result has a decision for each validation, or one if the evaluation failed as a
// whole; it is empty if match constraints or match conditions exclude the request from the policy. The error reports that
// the request could not be evaluated; if the policy fails on the request, that is a decision.
func (e *Evaluator) Evaluate(ctx context.Context, r apiserver.Review) (validating.ValidateResult, error) {
	return e.EvaluateWithin(ctx, r, celconfig.RuntimeCELCostBudget)
}

// EvaluateWithin is Evaluate with another cost budget than the API server's.
func (e *Evaluator) EvaluateWithin(ctx context.Context, r apiserver.Review, budget int64) (validating.ValidateResult, error) {
	attributes, err := r.Attributes()
	if err != nil {
		return validating.ValidateResult{}, err
	}
	matcher := generic.NewPolicyMatcher(matching.NewMatcher(reviewNamespace{namespace: r.Namespace}, nil))
	matches, resource, _, err := matcher.DefinitionMatches(attributes, e.objects, e.definition)
	if err != nil || !matches {
		return validating.ValidateResult{}, err
	}
	return e.validator.Validate(ctx, resource, attributes, nil, r.Namespace, budget, nil), nil
}

// reviewNamespace lists the one namespace of a review.
type reviewNamespace struct {
	namespace *corev1.Namespace
}

var _ corelisters.NamespaceLister = reviewNamespace{}

// List returns the namespace if the selector selects it.
func (n reviewNamespace) List(selector apilabels.Selector) ([]*corev1.Namespace, error) {
	if n.namespace == nil || !selector.Matches(apilabels.Set(n.namespace.Labels)) {
		return nil, nil
	}
	return []*corev1.Namespace{n.namespace}, nil
}

// Get returns the namespace if it has that name.
func (n reviewNamespace) Get(name string) (*corev1.Namespace, error) {
	if n.namespace == nil || n.namespace.Name != name {
		return nil, fmt.Errorf("review: the policy selects namespaces by label, but namespace %q is not given", name)
	}
	return n.namespace, nil
}
