package apiserver

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// Evaluator answers requests for one ValidatingAdmissionPolicy as the API server does, by
// the server's own packages. It ignores bindings: parameters come with the request. It
// compiles the policy once, and is safe for concurrent use.
type Evaluator struct {
	definition generic.PolicyAccessor
	objects    admission.ObjectInterfaces
	filters    filters
	// validator turns the filters' results into decisions.
	validator validating.Validator
}

// Review is a request to the API server.
type Review struct {
	Kind      kind.Kind
	Operation admission.Operation
	// Object is created, or is the new state in an update. OldObject is the old state in
	// an update, or is deleted. The policy sees Job, CronJob and ConfigMap as their Go
	// types write them, even if they are unstructured, and other objects as they are.
	// Whole numbers in those must be int64, as unstructured.UnstructuredJSONScheme reads
	// them, because CEL tells float64 apart.
	Object, OldObject runtime.Object
	// Params is the object that a binding refers to, or nil.
	Params runtime.Object
	// Namespace is the object's namespace, if the policy asks for it.
	Namespace *corev1.Namespace
	// User sends the request; nil is nobody. There is no authorizer: expressions that use
	// it fail.
	User   user.Info
	DryRun bool
}

// NewEvaluator compiles a policy. The error is a *CheckError if its expressions do not
// compile; nothing else is checked.
func NewEvaluator(policy *admissionregistrationv1.ValidatingAdmissionPolicy) (*Evaluator, error) {
	policy = defaulted(policy)
	f, err := compileFilters(policy)
	if err != nil {
		return nil, err
	}
	return &Evaluator{
		definition: validating.NewValidatingAdmissionPolicyAccessor(policy),
		objects:    admission.NewObjectInterfacesFromScheme(runtime.NewScheme()),
		filters:    f,
		validator:  validating.NewValidator(f.validations, f.matcher(policy), f.auditAnnotations, f.messages, policy.Spec.FailurePolicy, nil),
	}, nil
}

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

// Evaluate decides on a request. The result has a decision for each validation, or one if the
// evaluation failed as a whole; it is empty if match constraints or match conditions keep the
// policy from looking at the request. The error says that the request could not be put to the
// policy; a policy that fails on it is a decision.
func (e *Evaluator) Evaluate(ctx context.Context, r Review) (validating.ValidateResult, error) {
	in, err := e.input(r)
	if err != nil || !in.matches {
		return validating.ValidateResult{}, err
	}
	return e.validator.Validate(ctx, in.resource, in.attributes, in.params, r.Namespace, celconfig.RuntimeCELCostBudget, nil), nil
}
