package apiserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Decider evaluates requests against a generated ValidatingAdmissionPolicy and its binding, as an API server does. It does not use
// the server's admission plugin, which links the server's clients. It compiles the policy once, and is safe for concurrent use.
type Decider struct {
	policy                         admissionregistrationv1.ValidatingAdmissionPolicySpec
	selected                       *admissionregistrationv1.MatchResources // resources selected by the binding
	conditions, validations, rules plugincel.ConditionEvaluator
	ids                            []string // rule ids
}

// Failure is a reason why an object is rejected.
type Failure struct {
	// Rule is the id of the rule, as in G-TTL. It is empty if the failure does not come from a rule, and if the policy cannot be
	// evaluated.
	Rule, Message string
}

// ruleVariable matches the names of variables that list a rule's messages.
var ruleVariable = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// sender matches references to the user who sends a request.
var sender = regexp.MustCompile(`\b(request\.\??userInfo|authorizer)\b`)

// unread matches unsupported fields and values in the JSON of policies and bindings, such as wildcards.
var unread = regexp.MustCompile(`"(paramKind|excludeResourceRules|resourceNames)"|"matchPolicy":"Exact"|"scope":"\w+"|"[^"]*\*"`)

// NewDecider compiles a policy as an API server does for a stored policy. Unsupported features such as parameters and wildcards,
// and expressions that refer to the sender of a request, are reported as a *CheckError.
func NewDecider(policy *admissionregistrationv1.ValidatingAdmissionPolicy, binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) (*Decider, error) {
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return nil, err
	}
	d, x, rules, problems := &Decider{policy: policy.Spec, selected: binding.Spec.MatchResources}, expressionsOf(policy), []*expression{}, []Problem{}
	matched := admissionregistrationv1.ValidatingAdmissionPolicySpec{ParamKind: policy.Spec.ParamKind, MatchConstraints: policy.Spec.MatchConstraints}
	text, err := json.Marshal([]any{matched, d.selected})
	for _, part := range unread.FindAllString(strings.ReplaceAll(string(text), `"scope":"*"`, ""), -1) {
		problems = append(problems, Problem{FieldRef: "spec", Message: part + " is not read here"})
	}
	check := func(e *expression, result plugincel.CompilationResult) {
		problems = append(problems, problemsOf(e.field, e.text, result.Error)...)
		if asks := sender.FindString(e.text); asks != "" {
			problems = append(problems, Problem{FieldRef: e.field, Message: asks + " is not known here: nobody sends a request"})
		}
	}
	for _, v := range x.variables {
		check(v, compiler.CompileAndStoreVariable(v, everything, environment.StoredExpressions))
		if ruleVariable.MatchString(v.name) {
			d.ids = append(d.ids, strings.ReplaceAll(v.name, "_", "-"))
			rules = append(rules, &expression{text: plugincel.VariableVarName + "." + v.name, types: anything})
		}
	}
	for _, e := range slices.Concat(x.conditions, x.validations) {
		check(e, compiler.CompileCELExpression(e, everything, environment.StoredExpressions))
	}
	for i := range problems {
		problems[i].FieldRef = policy.Name + ": " + problems[i].FieldRef
	}
	d.conditions = compiler.CompileCondition(accessors(x.conditions), everything, environment.StoredExpressions)
	d.validations = compiler.CompileCondition(accessors(x.validations), everything, environment.StoredExpressions)
	d.rules = compiler.CompileCondition(accessors(rules), everything, environment.StoredExpressions)
	return d, cmp.Or(err, newCheckError(problems))
}

// Decide returns the reasons why an object is rejected, regardless of the binding's actions. The error reports that the request
// could not be built or matched. An evaluation error is returned as a Failure, or skipped if the policy's failure policy is
// Ignore.
func (d *Decider) Decide(ctx context.Context, r Review) ([]Failure, error) {
	attributes, err := r.Attributes()
	if err != nil {
		return nil, err
	}
	if matches, err := d.matches(r); err != nil || !matches {
		return nil, err
	}
	request := plugincel.CreateAdmissionRequest(attributes.Attributes, metav1.GroupVersionResource(attributes.GetResource()), metav1.GroupVersionKind(attributes.VersionedKind))
	evaluate := func(group plugincel.ConditionEvaluator, budget int64) (results []plugincel.EvaluationResult, isFalse []int, err error) {
		results, _, err = group.ForInput(ctx, attributes, request, plugincel.OptionalVariableBindings{}, plugincel.CreateNamespaceObject(r.Namespace), budget)
		for i, result := range results {
			if err = errors.Join(err, result.Error); result.EvalResult == celtypes.False {
				isFalse = append(isFalse, i)
			}
		}
		return results, isFalse, err
	}
	_, isFalse, err := evaluate(d.conditions, celconfig.RuntimeCELCostBudgetMatchConditions)
	if len(isFalse) > 0 {
		return nil, nil
	}
	if err != nil {
		return d.failed(err), nil
	}
	_, isFalse, err = evaluate(d.validations, PolicyLimit)
	all := d.failed(err)
	if len(isFalse) > 0 {
		results, _, _ := evaluate(d.rules, PolicyLimit) // rules that cannot be evaluated report nothing
		all = append(all, d.said(results, isFalse)...)
	}
	return all, nil
}

// failed returns the failures for an evaluation error, according to the failure policy.
func (d *Decider) failed(err error) []Failure {
	if p := d.policy.FailurePolicy; err == nil || p != nil && *p == admissionregistrationv1.Ignore {
		return nil
	}
	return []Failure{{Message: err.Error()}}
}

// said returns the messages of the rules. If there are none, it returns the messages of the validations that are false.
func (d *Decider) said(results []plugincel.EvaluationResult, isFalse []int) (all []Failure) {
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
		for _, i := range isFalse {
			v := d.policy.Validations[i]
			all = append(all, Failure{Message: cmp.Or(v.Message, "failed expression: "+strings.TrimSpace(v.Expression))})
		}
	}
	return all
}

// matches reports whether the policy and the binding match a request.
func (d *Decider) matches(r Review) (bool, error) {
	object, err := meta.Accessor(r.Object)
	if err != nil {
		return false, err
	}
	for _, m := range []*admissionregistrationv1.MatchResources{d.policy.MatchConstraints, d.selected} {
		m = cmp.Or(m, &admissionregistrationv1.MatchResources{})
		if len(m.ResourceRules) > 0 && !slices.ContainsFunc(m.ResourceRules, r.isUnder) {
			return false, nil
		}
		ofObject, err := selects(m.ObjectSelector, object.GetLabels())
		ofNamespace, errOfNamespace := selects(m.NamespaceSelector, cmp.Or(r.Namespace, &corev1.Namespace{}).Labels)
		if err = cmp.Or(err, errOfNamespace); err != nil || !ofObject || !ofNamespace {
			return false, err
		}
	}
	return true, nil
}

// isUnder reports whether a rule matches the kind and the operation of a request.
func (r Review) isUnder(rule admissionregistrationv1.NamedRuleWithOperations) bool {
	return slices.Contains(rule.APIGroups, r.Kind.Group) && slices.Contains(rule.APIVersions, r.Kind.Version) &&
		slices.Contains(rule.Resources, r.Kind.Resource) && slices.Contains(rule.Operations, admissionregistrationv1.OperationType(r.Operation))
}

// selects reports whether a selector matches labels. A nil selector matches everything.
func selects(selector *metav1.LabelSelector, set labels.Set) (bool, error) {
	s, err := metav1.LabelSelectorAsSelector(cmp.Or(selector, &metav1.LabelSelector{}))
	return err == nil && s.Matches(set), err
}
