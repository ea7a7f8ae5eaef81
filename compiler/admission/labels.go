package admission

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Labels of generated objects (https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/). Objects of the
// same instance and component form a set: objects generated later replace the whole set.
const (
	LabelPartOf    = "app.kubernetes.io/part-of"
	LabelInstance  = "app.kubernetes.io/instance"
	LabelComponent = "app.kubernetes.io/component"
	labelVersion   = "app.kubernetes.io/version"
)

// PartOf is the value of LabelPartOf.
const PartOf = "podverdict"

// labels returns the labels of a policy and its binding. It omits a version that is not a valid label value.
func (o Options) labels(component string) map[string]string {
	labels := map[string]string{LabelPartOf: PartOf, LabelInstance: o.Name, LabelComponent: component}
	if version := strings.ReplaceAll(o.Version, "+", "_"); version != "" && len(validation.IsValidLabelValue(version)) == 0 {
		labels[labelVersion] = version
	}
	return labels
}
