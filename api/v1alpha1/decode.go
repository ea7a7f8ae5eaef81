package v1alpha1

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	yamltree "go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	strictjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Object is a [PodFailurePolicy] or a [PodFailurePolicyBinding].
//
// +kubebuilder:object:generate=false
type Object interface {
	metav1.Object
	runtime.Object
	SetDefaults()
	Validate() field.ErrorList
}

// New returns an empty object of a kind in this package, or nil for other kinds.
func New(kind schema.GroupVersionKind) Object {
	switch kind {
	case GroupVersion.WithKind(KindPodFailurePolicy):
		return &PodFailurePolicy{}
	case GroupVersion.WithKind(KindPodFailurePolicyBinding):
		return &PodFailurePolicyBinding{}
	}
	return nil
}

// Decode decodes one object in YAML or JSON, and sets its defaults. It is as strict as the API server with strict field
// validation: field names are case-sensitive, and unknown or repeated fields are errors, as are all errors of [ValidateJSON].
// It does not call Validate.
func Decode(data []byte) (Object, error) {
	data, err := toJSON(data)
	if err != nil {
		return nil, err
	}
	var header struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if err := strictjson.UnmarshalCaseSensitivePreserveInts(data, &header); err != nil {
		return nil, fmt.Errorf("not an object of Kubernetes: %w", err)
	}
	object := New(header.GroupVersionKind())
	if object == nil {
		return nil, errKind(header.TypeMeta)
	}
	if found := ValidateJSON(data); len(found) > 0 {
		return nil, errDecode(header.Kind, header.Metadata.Name, found.ToAggregate())
	}
	refused, err := strictjson.UnmarshalStrict(data, object)
	if err := errors.Join(append(refused, err)...); err != nil {
		return nil, errDecode(header.Kind, header.Metadata.Name, err)
	}
	object.SetDefaults()
	return object, nil
}

// toJSON converts text that must consist of a single document.
func toJSON(data []byte) ([]byte, error) {
	if json.Valid(data) {
		return data, nil
	}
	found := 0
	for decoder := yamltree.NewDecoder(bytes.NewReader(data)); ; found++ {
		var document yamltree.Node
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, errYAML(err)
		}
	}
	if found != 1 {
		return nil, fmt.Errorf("want one object, got %d documents", found)
	}
	// kubectl uses this YAML parser, too. Others differ, for example in what they take for a number.
	data, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, errYAML(err)
	}
	return data, nil
}
