package admission

import (
	"maps"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/policies"
)

// ConstraintTemplate is a rule for OPA Gatekeeper, in the form of templates.gatekeeper.sh/v1: for the engine
// K8sNativeValidation in CEL, and for the engine Rego. Gatekeeper runs the first of them that it has, by default CEL.
type ConstraintTemplate struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        TemplateMetadata `json:"metadata"`
	Spec            TemplateSpec     `json:"spec"`
}

// TemplateMetadata are the members of a template's metadata that are written.
type TemplateMetadata struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// TemplateSpec has one CustomResourceDefinition, of the constraints, and one target.
type TemplateSpec struct {
	CRD     TemplateCRD      `json:"crd"`
	Targets []TemplateTarget `json:"targets"`
}

// TemplateCRD is what the CustomResourceDefinition of the constraints is made from.
type TemplateCRD struct {
	Spec struct {
		Names struct {
			Kind string `json:"kind"`
		} `json:"names"`
		Validation struct {
			// OpenAPIV3Schema is that of a constraint's spec.parameters.
			OpenAPIV3Schema *apiextensionsv1.JSONSchemaProps `json:"openAPIV3Schema,omitempty"`
		} `json:"validation"`
	} `json:"spec"`
}

// TemplateTarget is the rule's code.
type TemplateTarget struct {
	Target string         `json:"target"`
	Code   []TemplateCode `json:"code"`
}

// TemplateCode is the rule for one engine.
type TemplateCode struct {
	Engine string `json:"engine"`
	Source any    `json:"source"`
}

// Constraint puts a template in force, in the form of constraints.gatekeeper.sh/v1beta1.
type Constraint struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        TemplateMetadata `json:"metadata"`
	Spec            ConstraintSpec   `json:"spec"`
}

// ConstraintSpec says what is matched, and what happens to what breaks the rule: deny or warn.
type ConstraintSpec struct {
	EnforcementAction string          `json:"enforcementAction"`
	Match             ConstraintMatch `json:"match"`
	Parameters        Settings        `json:"parameters,omitempty"`
}

// ConstraintMatch are the kinds that a constraint looks at.
type ConstraintMatch struct {
	Kinds []MatchedKinds `json:"kinds"`
}

// MatchedKinds are kinds of some API groups.
type MatchedKinds struct {
	APIGroups []string `json:"apiGroups"`
	Kinds     []string `json:"kinds"`
}

// Gatekeeper writes each rule of the selection that is enabled as a template of its own, and a constraint with the
// selection's settings for each, in the same order. A rule for each template is what users of Gatekeeper expect; it also
// leaves each the whole of Gatekeeper's CEL budget, which is a tenth of the API server's.
func (s *Selection) Gatekeeper() ([]ConstraintTemplate, []Constraint, error) {
	var templates []ConstraintTemplate
	var constraints []Constraint
	for _, r := range s.enabled() {
		rego, err := gatekeeperRego(policies.FS, s.catalogue, r)
		if err != nil {
			return nil, nil, err
		}
		templates = append(templates, template(r, gatekeeperCEL(s.catalogue, r), rego))
		constraints = append(constraints, constraint(r))
	}
	return templates, constraints, nil
}

// gatekeeperKind is that of a rule's constraints: G-BACKOFF-LIMIT has PodverdictBackoffLimit. A template is named as
// its kind, in lower case.
func gatekeeperKind(id string) string {
	name := property(id)
	return "Podverdict" + strings.ToUpper(name[:1]) + name[1:]
}

func template(r Rule, cel celSource, rego regoSource) ConstraintTemplate {
	kind := gatekeeperKind(r.ID)
	t := ConstraintTemplate{
		TypeMeta: metav1.TypeMeta{APIVersion: "templates.gatekeeper.sh/v1", Kind: "ConstraintTemplate"},
		Metadata: TemplateMetadata{Name: strings.ToLower(kind), Labels: partOf(), Annotations: map[string]string{
			"description":                  strings.Join(strings.Fields(r.Description), " "),
			"metadata.gatekeeper.sh/title": r.ID + ": " + r.Title,
		}},
		Spec: TemplateSpec{Targets: []TemplateTarget{{
			Target: "admission.k8s.gatekeeper.sh",
			Code:   []TemplateCode{{Engine: "K8sNativeValidation", Source: cel}, {Engine: "Rego", Source: rego}},
		}}},
	}
	t.Spec.CRD.Spec.Names.Kind = kind
	t.Spec.CRD.Spec.Validation.OpenAPIV3Schema = parametersSchema(r)
	return t
}

// parametersSchema is that of the settings that are a constraint's parameters. Whether and how the rule is in force is
// said by the constraint itself.
func parametersSchema(r Rule) *apiextensionsv1.JSONSchemaProps {
	r.Settings = parametersOf(r)
	if len(r.Settings) == 0 {
		return nil
	}
	schema := settingsSchema(r)
	for name, property := range schema.Properties {
		property.Default = &apiextensionsv1.JSON{Raw: []byte(literal(r.Settings[name]))}
		schema.Properties[name] = property
	}
	return &schema
}

func parametersOf(r Rule) Settings {
	parameters := maps.Clone(r.Settings)
	delete(parameters, "enabled")
	delete(parameters, "severity")
	return parameters
}

func constraint(r Rule) Constraint {
	action := "deny"
	if r.Settings["severity"] == "warning" {
		action = "warn"
	}
	kinds := []string{"Job", "CronJob"}
	if len(r.only) > 0 {
		kinds = r.only
	}
	return Constraint{
		TypeMeta: metav1.TypeMeta{APIVersion: "constraints.gatekeeper.sh/v1beta1", Kind: gatekeeperKind(r.ID)},
		Metadata: TemplateMetadata{Name: strings.ToLower(strings.TrimPrefix(r.ID, "G-")), Labels: partOf()},
		Spec: ConstraintSpec{
			EnforcementAction: action,
			Match:             ConstraintMatch{Kinds: []MatchedKinds{{APIGroups: []string{"batch"}, Kinds: kinds}}},
			Parameters:        parametersOf(r),
		},
	}
}
