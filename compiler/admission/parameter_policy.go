package admission

import (
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// ParameterPolicy guards the ConfigMap that policies have their settings from: a setting that does not exist or cannot
// be used is refused where somebody writes it, and not forgotten in silence. The CustomResourceDefinition does the same
// for GuardrailParameters.
func (s *Selection) ParameterPolicy(o Options) (Policy, error) {
	name := fmt.Sprintf("%s-%s-parameters", o.Name, s.catalogue.Name)
	constraints := matchResources("", "v1", "configmaps", admissionregistrationv1.Create, admissionregistrationv1.Update)
	constraints.ResourceRules[0].ResourceNames = []string{o.Parameters.Name}
	variables := s.parameterVariables()
	var validations []admissionregistrationv1.Validation
	for _, v := range variables[1:] { // the first one is the data
		validations = append(validations, saysNothing(v.Name, "settings of guardrails that cannot be used"))
	}
	p := newPolicy(admissionregistrationv1.ValidatingAdmissionPolicySpec{
		FailurePolicy:    &o.Failure,
		MatchConstraints: constraints,
		Variables:        variables,
		Validations:      validations,
	}, admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName:        name,
		ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		MatchResources: &admissionregistrationv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{
			MatchLabels: map[string]string{corev1.LabelMetadataName: o.Parameters.Namespace},
		}},
	})
	guarded, err := kind.ConfigMap()
	if err != nil {
		return Policy{}, err
	}
	return p, apiserver.Check(p.Definition, guarded, nil, o.Kubernetes)
}

// parameterVariables returns the data of the ConfigMap, and lists of messages about its keys and about the settings of each rule.
func (s *Selection) parameterVariables() []admissionregistrationv1.Variable {
	var known []string
	for _, r := range s.Rules {
		for _, name := range liveSettings(r.Settings) {
			known = append(known, key(r.ID, name))
		}
	}
	all := []admissionregistrationv1.Variable{
		{Name: "data", Expression: "object.?data.orValue({})"},
		{Name: "unknown", Expression: fmt.Sprintf(
			"variables.data.map(key, key).filter(key, !(key in %s)).map(key, \"data[\" + key + \"]: is not a parameter of a guardrail\")", literal(known))},
	}
	for _, r := range s.Rules {
		all = append(all, admissionregistrationv1.Variable{Name: ruleVariable(r.ID), Expression: mistakes(r)})
	}
	return all
}

// mistakes returns the CEL of a list of what is wrong with a rule's settings in a ConfigMap.
func mistakes(r Rule) string {
	var parts []string
	for _, name := range liveSettings(r.Settings) {
		k := quote(key(r.ID, name))
		parts = append(parts, fmt.Sprintf("(!(%[1]s in variables.data) || %[2]s ? [] : [%[3]s])",
			k, usable(r.Settings[name], name, "variables.data["+k+"]"), quote(fmt.Sprintf("data[%s]: %s", key(r.ID, name), demand(name, r.Settings[name])))))
	}
	if _, bounded := r.Settings["min"]; bounded {
		least, most := key(r.ID, "min"), key(r.ID, "max")
		parts = append(parts, fmt.Sprintf("(%s <= %s ? [] : [%s])", bound(r, "min"), bound(r, "max"),
			quote(fmt.Sprintf("data[%s]: must be less than or equal to data[%s]", least, most))))
	}
	return strings.Join(parts, " +\n")
}

// bound returns the CEL of a number in the ConfigMap, or of the rule's own where there is none.
func bound(r Rule, name string) string {
	return fmt.Sprintf("[variables.data[?%s].orValue(\"\")].map(text, %s ? int(text) : %s)[0]",
		quote(key(r.ID, name)), usable(r.Settings[name], name, "text"), literal(r.Settings[name]))
}

// demand returns, in words, what a setting in a ConfigMap must be.
func demand(name string, standard any) string {
	if allowed, bound := choices[name]; bound {
		return "must be one or more of " + strings.Join(allowed, ", ") + ", with commas between them"
	}
	if name == maxPercent {
		return "must be a whole number from 0 to 100"
	}
	switch standard.(type) {
	case []int64, []string:
		return "must be " + kindOf(standard) + ", with commas between them"
	default:
		return "must be " + kindOf(standard)
	}
}
