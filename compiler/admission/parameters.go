package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// ParameterSource says where a policy reads its settings.
type ParameterSource string

const (
	// Inline writes the settings into the expressions.
	Inline ParameterSource = "inline"
	// FromCustomResource reads them from a GuardrailParameters object, one member of spec for each guardrail.
	FromCustomResource ParameterSource = "crd"
)

// Parameters is the object from which a policy reads its settings while it runs. A setting that is missing has the value with which
// the policy was generated.
type Parameters struct {
	Source ParameterSource
	// Name is the object's; GuardrailParameters have no namespace.
	Name string
}

const (
	parametersGroup   = "podverdict.io"
	parametersVersion = "v1alpha1"
	parametersKind    = "GuardrailParameters"
	parametersPlural  = "guardrailparameters"
)

func (p Parameters) live() bool { return p.Source == FromCustomResource }

// kind returns the kind of the object, or nil when there is no object.
func (p Parameters) kind() (*kind.Kind, error) {
	if !p.live() {
		return nil, nil //nolint:nilnil // there is no object
	}
	k, err := parameterKind()
	return &k, err
}

// reference returns the object's reference for the binding. Where there is no object, the policy fails as it does in
// other errors.
func (p Parameters) reference(failure admissionregistrationv1.FailurePolicyType) *admissionregistrationv1.ParamRef {
	if !p.live() {
		return nil
	}
	missing := admissionregistrationv1.DenyAction
	if failure == admissionregistrationv1.Ignore {
		missing = admissionregistrationv1.AllowAction
	}
	return &admissionregistrationv1.ParamRef{Name: p.Name, ParameterNotFoundAction: &missing}
}

// variables returns a variable for each of a rule's settings but severity: the binding has the actions.
func (p Parameters) variables(r Rule) []admissionregistrationv1.Variable {
	if !p.live() {
		return nil
	}
	var all []admissionregistrationv1.Variable
	for _, name := range liveSettings(r.Settings) {
		all = append(all, admissionregistrationv1.Variable{Name: settingVariable(r.ID, name), Expression: setting(r, name)})
	}
	return all
}

func liveSettings(s Settings) []string {
	names := slices.Sorted(maps.Keys(s))
	return slices.DeleteFunc(names, func(name string) bool { return name == "severity" })
}

func settingVariable(id, name string) string { return property(id) + "_" + name }

// property returns a guardrail's id as the name of a member: indexLimit for G-INDEX-LIMIT.
func property(id string) string {
	words := strings.Split(strings.ToLower(strings.TrimPrefix(id, "G-")), "-")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// setting returns the CEL that reads one setting, or else gives the one that the policy was made with.
func setting(r Rule, name string) string {
	return fmt.Sprintf("params.?spec.?%s.?%s.orValue(%s)", property(r.ID), name, literal(r.Settings[name]))
}
