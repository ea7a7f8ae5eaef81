package admission

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The labels of what is generated (https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/). The objects
// of a set have the same instance and component. What is generated later for a set takes the place of all of it.
const (
	LabelPartOf    = "app.kubernetes.io/part-of"
	LabelInstance  = "app.kubernetes.io/instance"
	LabelComponent = "app.kubernetes.io/component"
	LabelVersion   = "app.kubernetes.io/version"
)

// PartOf is the value of LabelPartOf.
const PartOf = "podverdict"

// Values of LabelComponent: policies of guardrails and constraints, of what custom policies require of Jobs, and of defaults.
const (
	ComponentGuardrails   = "guardrails"
	ComponentRequirements = "requirements"
	ComponentDefaults     = "defaults"
)

func partOf() map[string]string { return map[string]string{LabelPartOf: PartOf} }

// labels returns the labels of a policy and its binding. A version that cannot be a label's value is left out.
func (o Options) labels(component string) map[string]string {
	labels := partOf()
	maps.Copy(labels, map[string]string{LabelInstance: o.Name, LabelComponent: component})
	if version := strings.ReplaceAll(o.Version, "+", "_"); version != "" && len(validation.IsValidLabelValue(version)) == 0 {
		labels[LabelVersion] = version
	}
	return labels
}
