//go:build cluster

package admission

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// kinds is an API server with the definitions. Only one goroutine at a time may use it.
type kinds struct {
	*testcluster.World

	client *testcluster.Dynamic
}

func newKinds(t *testing.T) *kinds {
	t.Helper()
	world := start(t)
	world.InstallKinds(t, moduleRoot+"/config/crd")
	return &kinds{world, testcluster.NewDynamic(t, world.Cluster)}
}

// definitionsOf reads config/crd.
func definitionsOf(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	files, err := filepath.Glob(moduleRoot + "/config/crd/*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("definitions: %v %v", files, err)
	}
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, d); err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// resource returns the client for a kind of custom policies.
func (s *kinds) resource(kind string) dynamic.ResourceInterface {
	name := v1alpha1.ResourcePodFailurePolicies
	if kind == v1alpha1.KindPodFailurePolicyBinding {
		name = v1alpha1.ResourcePodFailurePolicyBindings
	}
	return s.client.Resource(v1alpha1.GroupVersion.WithResource(name))
}

// create returns the object as the API server would store it, or its reasons for rejecting it.
func (s *kinds) create(t *testing.T, object map[string]any) (*unstructured.Unstructured, refusal) {
	t.Helper()
	u := &unstructured.Unstructured{Object: object}
	made, err := s.resource(u.GetKind()).Create(t.Context(), u, metav1.CreateOptions{DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict})
	return made, refusalOf(t, err)
}

// cause is one reason why an object is rejected.
type cause struct {
	field   string
	typ     string // such as FieldValueInvalid
	message string
}

type refusal []cause

// label matches the field of a label in a schema's error.
var label = regexp.MustCompile(`matchLabels\.(.*)`)

// strict is the type of errors about unknown fields.
const strict = "strict decoding error"

// refusalOf parses the API server's rejection. Other errors fail the test.
func refusalOf(t *testing.T, err error) (all refusal) {
	t.Helper()
	if err == nil {
		return nil
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		t.Fatal(err)
	}
	switch s := status.ErrStatus; {
	case s.Reason == metav1.StatusReasonInvalid && s.Details != nil:
		for _, c := range s.Details.Causes {
			if !strings.Contains(c.Message, "some validation rules were not checked") {
				all = append(all, cause{label.ReplaceAllString(c.Field, "matchLabels[$1]"), string(c.Type), c.Message})
			}
		}
	case s.Reason == metav1.StatusReasonBadRequest && strings.Contains(s.Message, strict):
		all = append(all, cause{unknownField(s.Message), strict, s.Message})
	}
	if len(all) == 0 {
		t.Fatal(err)
	}
	return all
}

var unknown = regexp.MustCompile(`unknown field "([^"]*)"`)

func unknownField(message string) string {
	if m := unknown.FindStringSubmatch(message); m != nil {
		return m[1]
	}
	return ""
}

// fields returns the invalid fields, each with its type of error.
func (r refusal) fields() map[string]string {
	fields := map[string]string{}
	for _, c := range r {
		if !strings.Contains(fields[c.field], c.typ) {
			fields[c.field] = strings.TrimSpace(fields[c.field] + " " + c.typ)
		}
	}
	return fields
}

// ours decodes and validates the same object in Go. It returns the object, if it can be decoded, and the errors.
func ours(t *testing.T, object map[string]any) (v1alpha1.Object, refusal) {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := v1alpha1.Decode(text)
	found := v1alpha1.ValidateJSON(text)
	switch {
	case len(found) > 0 && err == nil:
		t.Errorf("Decode takes what ValidateJSON does not: %v", found)
	case len(found) > 0: // this makes Decode fail, but the decoder may succeed
		decoded = v1alpha1.New((&unstructured.Unstructured{Object: object}).GroupVersionKind())
		err = json.Unmarshal(text, decoded)
	case err != nil:
		return nil, refusal{{unknownField(err.Error()), strict, err.Error()}}
	}
	if err != nil {
		decoded = nil
	} else {
		found = append(found, decoded.Validate()...)
	}
	var all refusal
	for _, e := range found {
		all = append(all, cause{e.Field, string(e.Type), e.Error()})
	}
	return decoded, all
}
