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
	// FromConfigMap reads them from a ConfigMap, one key for each setting: G-TTL.max.
	FromConfigMap ParameterSource = "configmap"
	// FromCustomResource reads them from a GuardrailParameters object, one member of spec for each guardrail.
	FromCustomResource ParameterSource = "crd"
)

// Parameters is the object from which a policy reads its settings while it runs. A setting that is missing or cannot be
// used has the value with which the policy was generated.
type Parameters struct {
	Source ParameterSource
	// Namespace and Name are the object's; GuardrailParameters have no namespace.
	Namespace, Name string
}

const (
	parametersGroup   = "podverdict.io"
	parametersVersion = "v1alpha1"
	parametersKind    = "GuardrailParameters"
	parametersPlural  = "guardrailparameters"
)

func (p Parameters) live() bool { return p.Source == FromConfigMap || p.Source == FromCustomResource }

// kind returns the kind of the object, or nil when there is no object.
func (p Parameters) kind() (*kind.Kind, error) {
	read := kind.ConfigMap
	switch p.Source {
	case FromConfigMap:
	case FromCustomResource:
		read = parameterKind
	default:
		return nil, nil //nolint:nilnil // there is no object
	}
	k, err := read()
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
	ref := &admissionregistrationv1.ParamRef{Name: p.Name, ParameterNotFoundAction: &missing}
	if p.Source == FromConfigMap {
		ref.Namespace = p.Namespace
	}
	return ref
}

// variables returns a variable for each of a rule's settings but severity: the binding has the actions.
func (p Parameters) variables(r Rule) []admissionregistrationv1.Variable {
	if !p.live() {
		return nil
	}
	var all []admissionregistrationv1.Variable
	for _, name := range liveSettings(r.Settings) {
		all = append(all, admissionregistrationv1.Variable{Name: settingVariable(r.ID, name), Expression: p.expression(r, name)})
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

// key returns the key of a setting in a ConfigMap.
func key(id, name string) string { return id + "." + name }

// expression returns the CEL that reads one setting, or else gives the one that the policy was made with.
func (p Parameters) expression(r Rule, name string) string {
	standard := literal(r.Settings[name])
	if p.Source == FromCustomResource {
		return fmt.Sprintf("params.?spec.?%s.?%s.orValue(%s)", property(r.ID), name, standard)
	}
	text := fmt.Sprintf("params.?data[?%s].orValue(\"\")", quote(key(r.ID, name)))
	return fmt.Sprintf("[%s].map(text,\n  %s ? %s : %s)[0]", text, usable(r.Settings[name], name, "text"), reading(r.Settings[name], "text"), standard)
}

// usable returns a CEL condition: the text can be read as a value of the same kind.
func usable(standard any, name, text string) string {
	switch standard.(type) {
	case bool:
		return text + ` in ["true", "false"]`
	case int64:
		if name == maxPercent {
			return text + `.matches("^([0-9]{1,2}|100)$")`
		}
		return text + `.matches("^[0-9]{1,9}$")`
	case []int64:
		return text + `.matches("^ *[0-9]{1,9} *(, *[0-9]{1,9} *)*$")`
	default:
		if allowed, bound := choices[name]; bound {
			return fmt.Sprintf(`%s.split(",").all(item, item.trim() in %s)`, text, literal(allowed))
		}
		return text + `.trim() != ""`
	}
}

// reading returns the CEL that reads a text as a value of the same kind.
func reading(standard any, text string) string {
	switch standard.(type) {
	case bool:
		return text + ` == "true"`
	case int64:
		return "int(" + text + ")"
	case []int64:
		return text + `.split(",").map(item, int(item.trim()))`
	default:
		return text + `.split(",").map(item, item.trim())`
	}
}
