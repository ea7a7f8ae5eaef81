package admission_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/podverdict/podverdict/compiler/admission"
)

func TestAbsentMaps(t *testing.T) {
	for text, want := range map[string][]string{
		"!has(object.metadata.labels.exempt)":                                      {"object.metadata.labels"},
		"has(object.metadata.labels) && has(object.metadata.labels.exempt)":        nil,
		"!has(object.metadata.labels) || !('exempt' in object.metadata.labels)":    nil,
		"'a' in object.metadata.annotations":                                       {"object.metadata.annotations"},
		"object.metadata.labels['a'] == 'b' && oldObject.metadata.labels.a == 'b'": {"object.metadata.labels", "oldObject.metadata.labels"},
		"object.metadata.?labels[?'a'].orValue('') == 'b'":                         nil,
		"object.spec.template.metadata.labels.a == 'b'":                            {"object.spec.template.metadata.labels"},
		"namespaceObject.metadata.labels.a == 'b' && object.spec.parallelism > 3":  nil,
		"object.spec.": nil,
		"object.metadata.labels == {'a': 'b'} && [1].exists(labels, labels.metadata > 0)": nil,
	} {
		if diff := cmp.Diff(want, admission.AbsentMaps(text), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", text, diff)
		}
	}
}
