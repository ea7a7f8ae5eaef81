package evaluator

import (
	"context"
	"errors"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/podverdict/podverdict/compiler/admission/apiserver"
)

// Evaluator answers requests for one ValidatingAdmissionPolicy as the API server does, by
// the server's own packages. It ignores bindings: parameters come with the request. It
// compiles the policy once, and is safe for concurrent use.
type Evaluator struct {
	definition generic.PolicyAccessor
	objects    admission.ObjectInterfaces
	validator  validating.Validator
}

// New compiles a policy. The error says which expressions do not compile; nothing else is checked.
func New(policy *admissionregistrationv1.ValidatingAdmissionPolicy) (*Evaluator, error) {
	policy = defaulted(policy)
	validator, err := validatorOf(policy)
	if err != nil {
		return nil, err
	}
	return &Evaluator{
		definition: validating.NewValidatingAdmissionPolicyAccessor(policy),
		objects:    admission.NewObjectInterfacesFromScheme(runtime.NewScheme()),
		validator:  validator,
	}, nil
}

// validatorOf returns what decides by a policy, compiled and put together as an API server does with a policy that it has
// stored.
func validatorOf(policy *admissionregistrationv1.ValidatingAdmissionPolicy) (validating.Validator, error) {
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return nil, err
	}
	spec, faults := policy.Spec, []error(nil)
	options := plugincel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true}
	for _, v := range spec.Variables {
		r := compiler.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, options, environment.StoredExpressions)
		if r.Error != nil {
			faults = append(faults, fmt.Errorf("variable %s: %w", v.Name, r.Error))
		}
	}
	compile := func(all []plugincel.ExpressionAccessor, o plugincel.OptionalVariableDeclarations) plugincel.ConditionEvaluator {
		compiled := compiler.CompileCondition(all, o, environment.StoredExpressions)
		faults = append(faults, compiled.CompilationErrors()...)
		return compiled
	}
	var matcher matchconditions.Matcher
	if len(spec.MatchConditions) > 0 {
		matcher = matchconditions.NewMatcher(compile(conditionsOf(spec), options), spec.FailurePolicy, "policy", "validate", policy.Name)
	}
	validations, messages := validationsOf(spec)
	validator := validating.NewValidator(compile(validations, options), matcher, compile(annotationsOf(spec), options),
		compile(messages, plugincel.OptionalVariableDeclarations{HasParams: options.HasParams}), spec.FailurePolicy, nil)
	return validator, errors.Join(faults...)
}

func conditionsOf(spec admissionregistrationv1.ValidatingAdmissionPolicySpec) []plugincel.ExpressionAccessor {
	var all []plugincel.ExpressionAccessor
	for _, c := range spec.MatchConditions {
		condition := matchconditions.MatchCondition(c)
		all = append(all, &condition)
	}
	return all
}

// validationsOf returns the validations and their messages, nil for a validation without a messageExpression.
func validationsOf(spec admissionregistrationv1.ValidatingAdmissionPolicySpec) (validations, messages []plugincel.ExpressionAccessor) {
	for _, v := range spec.Validations {
		validations = append(validations, &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason})
		var message plugincel.ExpressionAccessor
		if v.MessageExpression != "" {
			message = &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression}
		}
		messages = append(messages, message)
	}
	return validations, messages
}

func annotationsOf(spec admissionregistrationv1.ValidatingAdmissionPolicySpec) []plugincel.ExpressionAccessor {
	var all []plugincel.ExpressionAccessor
	for _, a := range spec.AuditAnnotations {
		all = append(all, &validating.AuditAnnotationCondition{Key: a.Key, ValueExpression: a.ValueExpression})
	}
	return all
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
func (e *Evaluator) Evaluate(ctx context.Context, r apiserver.Review) (validating.ValidateResult, error) {
	return e.evaluate(ctx, r, celconfig.RuntimeCELCostBudget)
}

func (e *Evaluator) evaluate(ctx context.Context, r apiserver.Review, budget int64) (validating.ValidateResult, error) {
	attributes, params, err := r.Attributes()
	if err != nil {
		return validating.ValidateResult{}, err
	}
	matcher := generic.NewPolicyMatcher(matching.NewMatcher(reviewNamespace{namespace: r.Namespace}, nil))
	matches, resource, _, err := matcher.DefinitionMatches(attributes, e.objects, e.definition)
	if err != nil || !matches {
		return validating.ValidateResult{}, err
	}
	return e.validator.Validate(ctx, resource, attributes, params, r.Namespace, budget, nil), nil
}

// reviewNamespace lists the one namespace that a review comes with.
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
