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
	Spec TemplateCRDSpec `json:"spec"`
}

// TemplateCRDSpec has the kind of the constraints, and the schema of their parameters where they have some.
type TemplateCRDSpec struct {
	Names      TemplateNames       `json:"names"`
	Validation *TemplateValidation `json:"validation,omitempty"`
}

// TemplateNames is the kind of the constraints.
type TemplateNames struct {
	Kind string `json:"kind"`
}

// TemplateValidation is the schema of spec.parameters.
type TemplateValidation struct {
	OpenAPIV3Schema apiextensionsv1.JSONSchemaProps `json:"openAPIV3Schema"`
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

// ConstraintMatch is what a constraint looks at.
type ConstraintMatch struct {
	Kinds []MatchedKinds `json:"kinds"`
	// ExcludedNamespaces are names, or the beginnings or ends of some, with an asterisk.
	ExcludedNamespaces []string `json:"excludedNamespaces,omitempty"`
}

// MatchedKinds are kinds of some API groups.
type MatchedKinds struct {
	APIGroups []string `json:"apiGroups"`
	Kinds     []string `json:"kinds"`
}

// GatekeeperRule is a template, and a constraint that puts it in force.
type GatekeeperRule struct {
	Template   ConstraintTemplate
	Constraint Constraint
}

// Gatekeeper writes each rule of the selection that is enabled as a template of its own, with a constraint that has the
// selection's settings and is not in force in the namespaces that are exempt, as in kube-*. A rule for each template is
// what users of Gatekeeper expect; it also leaves each the whole of Gatekeeper's CEL budget, a tenth of the API server's.
func (s *Selection) Gatekeeper(exempt []string) ([]GatekeeperRule, error) {
	bundle, err := readBundle(policies.FS, s.catalogue)
	if err != nil {
		return nil, err
	}
	var all []GatekeeperRule
	for _, r := range s.enabled() {
		rego, err := bundle.source(r)
		if err != nil {
			return nil, err
		}
		all = append(all, GatekeeperRule{template(r, gatekeeperCEL(s.catalogue, r), rego), constraint(r, exempt)})
	}
	return all, nil
}

// gatekeeperKind is that of a rule's constraints: G-BACKOFF-LIMIT has PodverdictBackoffLimit. A template is named as
// its kind, in lower case.
func gatekeeperKind(id string) string {
	name := property(id)
	return "Podverdict" + strings.ToUpper(name[:1]) + name[1:]
}

func template(r Rule, cel celSource, rego regoSource) ConstraintTemplate {
	kind := gatekeeperKind(r.ID)
	annotations := map[string]string{"metadata.gatekeeper.sh/title": r.ID + ": " + r.Title}
	if r.Description != "" {
		annotations["description"] = strings.Join(strings.Fields(r.Description), " ")
	}
	return ConstraintTemplate{
		TypeMeta: metav1.TypeMeta{APIVersion: "templates.gatekeeper.sh/v1", Kind: "ConstraintTemplate"},
		Metadata: TemplateMetadata{Name: strings.ToLower(kind), Labels: partOf(), Annotations: annotations},
		Spec: TemplateSpec{
			CRD: TemplateCRD{Spec: TemplateCRDSpec{Names: TemplateNames{Kind: kind}, Validation: parametersSchema(r)}},
			Targets: []TemplateTarget{{
				Target: "admission.k8s.gatekeeper.sh",
				Code:   []TemplateCode{{Engine: "K8sNativeValidation", Source: cel}, {Engine: "Rego", Source: rego}},
			}},
		},
	}
}

// parametersSchema is that of the settings that are a constraint's parameters, nil where there are none. Whether and how
// the rule is in force is said by the constraint itself.
func parametersSchema(r Rule) *TemplateValidation {
	r.Settings = parametersOf(r)
	if len(r.Settings) == 0 {
		return nil
	}
	schema := settingsSchema(r)
	for name, property := range schema.Properties {
		property.Default = &apiextensionsv1.JSON{Raw: []byte(literal(r.Settings[name]))}
		schema.Properties[name] = property
	}
	return &TemplateValidation{schema}
}

func parametersOf(r Rule) Settings {
	parameters := maps.Clone(r.Settings)
	delete(parameters, "enabled")
	delete(parameters, "severity")
	return parameters
}

func constraint(r Rule, exempt []string) Constraint {
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
			Match: ConstraintMatch{
				Kinds:              []MatchedKinds{{APIGroups: []string{"batch"}, Kinds: kinds}},
				ExcludedNamespaces: exempt,
			},
			Parameters: parametersOf(r),
		},
	}
}
