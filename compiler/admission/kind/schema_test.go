package kind

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// TestServedKindsAreTypedAsTheAPIServerDoes checks that the types equal those in the documents that
// the API server's builder publishes.
func TestServedKindsAreTypedAsTheAPIServerDoes(t *testing.T) {
	for _, file := range []string{"taskset.yaml", "limit.yaml", "embedded.yaml"} {
		crd := definition(t, file)
		kinds, wrong := ServedKinds(crd)
		if len(wrong) > 0 {
			t.Fatal(wrong)
		}
		for _, k := range kinds {
			published, err := builder.BuildOpenAPIV3(crd, k.Version, builder.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := resolve(published.Components.Schemas, k.GroupVersionKind)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(typesOf(want), typesOf(k.Schema)); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", file, k.Version, diff)
			}
		}
	}
}

func TestReferencesAreReplacedAsTheAPIServerDoes(t *testing.T) {
	schemas, err := builtins()
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range schemas {
		got, err := populate(schemas, s)
		if err != nil {
			t.Fatal(err)
		}
		want, err := resolver.PopulateRefs(func(ref string) (*spec.Schema, bool) {
			s, ok := schemas[strings.TrimPrefix(ref, reference)]
			return s, ok
		}, name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(asJSON(t, want), asJSON(t, got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func asJSON(t *testing.T, s *spec.Schema) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// typesOf returns the types that the type checker assigns to the fields of an object, by path.
func typesOf(s *spec.Schema) map[string]string {
	types := map[string]string{}
	declared := common.SchemaDeclType(&openapi.Schema{Schema: s}, true).MaybeAssignTypeName("object")
	for name, object := range apiservercel.FieldTypeMap("object", declared) {
		for _, field := range slices.Sorted(maps.Keys(object.Fields)) {
			f := object.Fields[field]
			types[name+"."+field] = f.Type.CelType().String()
			if f.Required {
				types[name+"."+field] += ", required"
			}
		}
	}
	return types
}
