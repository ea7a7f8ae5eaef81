package apiserver

import (
	"context"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Decider answers requests as an API server does that has a generated ValidatingAdmissionPolicy and its binding, without the
// server's plugin, which links its clients. It compiles the policy once, and is safe for concurrent use.
type Decider struct {
	policy                         *admissionregistrationv1.ValidatingAdmissionPolicy
	binding                        *admissionregistrationv1.ValidatingAdmissionPolicyBinding
	conditions, validations, rules plugincel.ConditionEvaluator
	ids                            []string // of the rules
}

// Failure is a reason why an object does not pass.
type Failure struct {
	// Rule is the id of the rule, as in G-TTL. It is empty when another expression does not hold, or cannot be evaluated.
	Rule, Message string
}

// ruleVariable matches the variables that list what a rule says.
var ruleVariable = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// NewDecider compiles a policy as an API server does that has stored it. Parameters are an error.
func NewDecider(policy *admissionregistrationv1.ValidatingAdmissionPolicy, binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) (*Decider, error) {
	if policy.Spec.ParamKind != nil {
		return nil, errors.New("spec.paramKind: parameters are not read")
	}
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return nil, err
	}
	d, x := &Decider{policy: policy, binding: binding}, expressionsOf(policy)
	var rules []*expression
	for _, v := range x.variables {
		compiler.CompileAndStoreVariable(v, x.options, environment.StoredExpressions)
		if ruleVariable.MatchString(v.name) {
			d.ids = append(d.ids, strings.ReplaceAll(v.name, "_", "-"))
			rules = append(rules, &expression{text: plugincel.VariableVarName + "." + v.name, types: anything})
		}
	}
	var errs []error
	for group, all := range map[*plugincel.ConditionEvaluator][]*expression{&d.conditions: x.conditions, &d.validations: x.validations, &d.rules: rules} {
		*group = compiler.CompileCondition(accessors(all), x.options, environment.StoredExpressions)
		errs = append(errs, (*group).CompilationErrors()...)
	}
	return d, errors.Join(errs...)
}

// Denies reports whether the binding refuses objects that do not pass.
func (d *Decider) Denies() bool {
	return slices.Contains(d.binding.Spec.ValidationActions, admissionregistrationv1.Deny)
}

// Decide returns why an object does not pass, whatever the binding's actions are. The error says that the request could not be put
// to the policy; a policy that fails on it is a Failure, or none if its failure policy is Ignore.
func (d *Decider) Decide(ctx context.Context, r Review) ([]Failure, error) {
	attributes, _, err := r.Attributes()
	if err != nil {
		return nil, err
	}
	for _, m := range []*admissionregistrationv1.MatchResources{d.policy.Spec.MatchConstraints, d.binding.Spec.MatchResources} {
		if matches, err := matches(m, r, attributes); err != nil || !matches {
			return nil, err
		}
	}
	request := plugincel.CreateAdmissionRequest(attributes.Attributes, metav1.GroupVersionResource(attributes.GetResource()), metav1.GroupVersionKind(attributes.VersionedKind))
	evaluate := func(group plugincel.ConditionEvaluator, budget int64) ([]plugincel.EvaluationResult, error) {
		results, _, err := group.ForInput(ctx, attributes, request, plugincel.OptionalVariableBindings{}, plugincel.CreateNamespaceObject(r.Namespace), budget)
		for _, result := range results {
			err = errors.Join(err, result.Error)
		}
		return results, err
	}
	fails := func(result plugincel.EvaluationResult) bool { return result.EvalResult == celtypes.False }
	conditions, err := evaluate(d.conditions, celconfig.RuntimeCELCostBudgetMatchConditions)
	if slices.ContainsFunc(conditions, fails) {
		return nil, nil
	}
	if err != nil {
		return d.failed(err), nil
	}
	validations, err := evaluate(d.validations, PolicyLimit)
	all := d.failed(err)
	if first := slices.IndexFunc(validations, fails); first >= 0 {
		rules, _ := evaluate(d.rules, PolicyLimit) // what these cannot say is in the message
		all = append(all, d.said(rules, d.policy.Spec.Validations[first])...)
	}
	return all, nil
}

// failed returns what becomes of a request when the policy cannot be evaluated.
func (d *Decider) failed(err error) []Failure {
	if p := d.policy.Spec.FailurePolicy; err == nil || p != nil && *p == admissionregistrationv1.Ignore {
		return nil
	}
	return []Failure{{Message: err.Error()}}
}

// said returns what the rules say, or else what a validation does that does not hold.
func (d *Decider) said(rules []plugincel.EvaluationResult, v admissionregistrationv1.Validation) (all []Failure) {
	for i, rule := range rules {
		if rule.EvalResult == nil {
			continue
		}
		texts, _ := rule.EvalResult.ConvertToNative(reflect.TypeFor[[]string]())
		said, _ := texts.([]string)
		for _, text := range said {
			all = append(all, Failure{d.ids[i], text})
		}
	}
	if len(all) == 0 {
		all = []Failure{{Message: v.Message}}
	}
	return all
}

// matches reports whether resources of a policy or a binding, of the kinds that generated ones have, match a request.
func matches(m *admissionregistrationv1.MatchResources, r Review, attributes *admission.VersionedAttributes) (bool, error) {
	if m == nil {
		return true, nil
	}
	object, err := meta.Accessor(attributes.GetObject())
	if err != nil {
		return false, err
	}
	covers := func(rule admissionregistrationv1.NamedRuleWithOperations) bool {
		return slices.Contains(rule.APIGroups, r.Kind.Group) && slices.Contains(rule.APIVersions, r.Kind.Version) &&
			slices.Contains(rule.Resources, r.Kind.Resource) && slices.Contains(rule.Operations, admissionregistrationv1.OperationType(r.Operation))
	}
	matches, err := selects(m.ObjectSelector, object.GetLabels())
	if r.Namespace != nil && matches {
		matches, err = selects(m.NamespaceSelector, r.Namespace.Labels)
	}
	return matches && (len(m.ResourceRules) == 0 || slices.ContainsFunc(m.ResourceRules, covers)), err
}

func selects(selector *metav1.LabelSelector, set map[string]string) (bool, error) {
	if selector == nil {
		return true, nil
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && s.Matches(labels.Set(set)), err
}
