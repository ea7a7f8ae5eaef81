package admission

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The labels of what is generated (https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/). Objects of the
// same instance and component are a set: what is generated later takes the place of all of it.
const (
	LabelPartOf    = "app.kubernetes.io/part-of"
	LabelInstance  = "app.kubernetes.io/instance"
	LabelComponent = "app.kubernetes.io/component"
	labelVersion   = "app.kubernetes.io/version"
)

// PartOf is the value of LabelPartOf.
const PartOf = "podverdict"

// labels returns the labels of a policy and its binding. A version that cannot be a label's value is left out.
func (o Options) labels(component string) map[string]string {
	labels := map[string]string{LabelPartOf: PartOf, LabelInstance: o.Name, LabelComponent: component}
	if version := strings.ReplaceAll(o.Version, "+", "_"); version != "" && len(validation.IsValidLabelValue(version)) == 0 {
		labels[labelVersion] = version
	}
	return labels
}
