package apiserver

import (
	"cmp"
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
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Decider answers requests as an API server does that has a generated ValidatingAdmissionPolicy and its binding, without the
// server's plugin, which links its clients. It compiles the policy once, and is safe for concurrent use. Wildcards in resource
// rules are not known.
type Decider struct {
	policy                         admissionregistrationv1.ValidatingAdmissionPolicySpec
	selected                       *admissionregistrationv1.MatchResources // by the binding
	conditions, validations, rules plugincel.ConditionEvaluator
	ids                            []string // of the rules
}

// Failure is a reason why an object does not pass.
type Failure struct {
	// Rule is the id of the rule, as in G-TTL. It is empty for what is no rule, and when the policy cannot be evaluated.
	Rule, Message string
}

// ruleVariable matches the variables that list what a rule says.
var ruleVariable = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// NewDecider compiles a policy as an API server does that has stored it. A policy with parameters is an error.
func NewDecider(policy *admissionregistrationv1.ValidatingAdmissionPolicy, binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) (*Decider, error) {
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if policy.Spec.ParamKind != nil {
		err = errors.New("spec.paramKind: parameters are not read")
	}
	if err != nil {
		return nil, err
	}
	d, x, rules := &Decider{policy: policy.Spec, selected: binding.Spec.MatchResources}, expressionsOf(policy), []*expression{}
	for _, v := range x.variables {
		compiler.CompileAndStoreVariable(v, everything, environment.StoredExpressions)
		if ruleVariable.MatchString(v.name) {
			d.ids = append(d.ids, strings.ReplaceAll(v.name, "_", "-"))
			rules = append(rules, &expression{text: plugincel.VariableVarName + "." + v.name, types: anything})
		}
	}
	var errs []error
	for group, all := range map[*plugincel.ConditionEvaluator][]*expression{&d.conditions: x.conditions, &d.validations: x.validations, &d.rules: rules} {
		*group = compiler.CompileCondition(accessors(all), everything, environment.StoredExpressions)
		errs = append(errs, (*group).CompilationErrors()...)
	}
	return d, errors.Join(errs...)
}

// Decide returns why an object does not pass, whatever the binding's actions are. The error says that the request could not be put
// to the policy; a policy that fails on it is a Failure, or none if its failure policy is Ignore.
func (d *Decider) Decide(ctx context.Context, r Review) ([]Failure, error) {
	attributes, err := r.Attributes()
	if err != nil {
		return nil, err
	}
	if matches, err := d.matches(r); err != nil || !matches {
		return nil, err
	}
	request := plugincel.CreateAdmissionRequest(attributes.Attributes, metav1.GroupVersionResource(attributes.GetResource()), metav1.GroupVersionKind(attributes.VersionedKind))
	evaluate := func(group plugincel.ConditionEvaluator, budget int64) (results []plugincel.EvaluationResult, isFalse bool, err error) {
		results, _, err = group.ForInput(ctx, attributes, request, plugincel.OptionalVariableBindings{}, plugincel.CreateNamespaceObject(r.Namespace), budget)
		for _, result := range results {
			err, isFalse = errors.Join(err, result.Error), isFalse || result.EvalResult == celtypes.False
		}
		return results, isFalse, err
	}
	_, isFalse, err := evaluate(d.conditions, celconfig.RuntimeCELCostBudgetMatchConditions)
	if isFalse {
		return nil, nil
	}
	if err != nil {
		return d.failed(err), nil
	}
	_, isFalse, err = evaluate(d.validations, PolicyLimit)
	all := d.failed(err)
	if isFalse {
		results, _, _ := evaluate(d.rules, PolicyLimit) // one that cannot be evaluated says nothing
		all = append(all, d.said(results)...)
	}
	return all, nil
}

// failed returns what becomes of a request when the policy cannot be evaluated.
func (d *Decider) failed(err error) []Failure {
	if p := d.policy.FailurePolicy; err == nil || p != nil && *p == admissionregistrationv1.Ignore {
		return nil
	}
	return []Failure{{Message: err.Error()}}
}

// said returns what the rules say, or that something else is required.
func (d *Decider) said(results []plugincel.EvaluationResult) (all []Failure) {
	for i, result := range results {
		if result.EvalResult == nil {
			continue
		}
		texts, _ := result.EvalResult.ConvertToNative(reflect.TypeFor[[]string]())
		said, _ := texts.([]string)
		for _, text := range said {
			all = append(all, Failure{d.ids[i], text})
		}
	}
	if len(all) == 0 {
		all = []Failure{{Message: d.policy.Validations[0].Message}}
	}
	return all
}

// matches reports whether the policy and the binding match a request.
func (d *Decider) matches(r Review) (bool, error) {
	object, err := meta.Accessor(r.Object)
	if err != nil {
		return false, err
	}
	var namespace labels.Set
	if r.Namespace != nil {
		namespace = r.Namespace.Labels
	}
	for _, m := range []*admissionregistrationv1.MatchResources{d.policy.MatchConstraints, d.selected} {
		if m == nil {
			continue
		}
		if len(m.ResourceRules) > 0 && !slices.ContainsFunc(m.ResourceRules, r.isUnder) {
			return false, nil
		}
		ofObject, err := selects(m.ObjectSelector, object.GetLabels())
		ofNamespace, errOfNamespace := selects(m.NamespaceSelector, namespace)
		if err = cmp.Or(err, errOfNamespace); err != nil || !ofObject || !ofNamespace {
			return false, err
		}
	}
	return true, nil
}

// isUnder reports whether a rule is about the kind and the operation of a request.
func (r Review) isUnder(rule admissionregistrationv1.NamedRuleWithOperations) bool {
	return slices.Contains(rule.APIGroups, r.Kind.Group) && slices.Contains(rule.APIVersions, r.Kind.Version) &&
		slices.Contains(rule.Resources, r.Kind.Resource) && slices.Contains(rule.Operations, admissionregistrationv1.OperationType(r.Operation))
}

// selects reports whether a selector, or nil for all, matches labels.
func selects(selector *metav1.LabelSelector, set labels.Set) (bool, error) {
	if selector == nil {
		return true, nil
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && s.Matches(set), err
}
