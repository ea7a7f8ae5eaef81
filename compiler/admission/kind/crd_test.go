package kind

import (
	"bytes"
	_ "embed" // a definition
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/kube-openapi/pkg/validation/spec"
	kubeyaml "sigs.k8s.io/yaml"
)

//go:embed testdata/crd/limit.yaml
var smallCRD string

func TestReadCRDSaysWhatIsWrongAndWhere(t *testing.T) {
	crd := func(replacements ...string) string {
		changed := strings.NewReplacer(replacements...).Replace(smallCRD)
		if changed == smallCRD {
			t.Fatalf("nothing to replace: %q", replacements)
		}
		return changed
	}
	for name, test := range map[string]struct{ text, want string }{
		"nothing":         {"# nothing\n---\n", "no CustomResourceDefinition: the text is empty"},
		"another kind":    {"apiVersion: batch/v1\nkind: Job\n", "no CustomResourceDefinition that serves a version, only batch/v1, Kind=Job"},
		"no kind":         {"a: 1\n", "no CustomResourceDefinition: the text has no apiVersion and kind"},
		"no object":       {"---\n---\n[1]\n", "line 3: want an object, got !!seq"},
		"no version":      {crd("served: true", "served: false"), "no CustomResourceDefinition that serves a version, only apiextensions.k8s.io/v1, Kind=CustomResourceDefinition"},
		"not YAML":        {"a: [", "not YAML: yaml: line 1: did not find expected node content"},
		"repeated key":    {crd("  scope: Cluster\n", "  scope: Cluster\n  scope: Namespaced\n"), "line 7: scope: is set twice"},
		"beta":            {crd("k8s.io/v1", "k8s.io/v1beta1"), `line 1: apiVersion: version "v1beta1" of CustomResourceDefinition is not supported, want v1`},
		"unknown field":   {crd("openAPIV3Schema", "openApiV3Schema"), "line 13: spec.versions[0].schema.openApiV3Schema: no such field"},
		"wrong type":      {crd("name: v1", "name: [v1]"), "line 8: spec.versions.name: want string, got array"},
		"invalid schema":  {crd("type: integer", "type: int"), `line 16: spec.versions[0].schema.openAPIV3Schema.properties[max].type: Unsupported value: "int": supported values: "array", "boolean", "integer", "number", "object", "string"`},
		"no schema type":  {crd("{type: integer}", "{}"), "line 16: spec.versions[0].schema.openAPIV3Schema.properties[max].type: Required value: must not be empty for specified object fields"},
		"missing field":   {crd("  group: example.com\n", ""), "line 4: spec.group: Required value"},
		"in a later text": {"a: 1\n---\n" + crd("type: integer", "type: int"), "line 18: spec.versions[0].schema.openAPIV3Schema.properties[max].type"},
	} {
		t.Run(name, func(t *testing.T) {
			kinds, err := ReadCRD([]byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %s", err, test.want)
			}
			if kinds != nil {
				t.Errorf("got kinds %v beside the error", kinds)
			}
		})
	}
}

func TestReadCRDTakesJSONAndSeveralDocuments(t *testing.T) {
	want, err := ReadCRD([]byte(smallCRD))
	if err != nil {
		t.Fatal(err)
	}
	object, err := kubeyaml.YAMLToJSON([]byte(smallCRD))
	if err != nil {
		t.Fatal(err)
	}
	var tabs bytes.Buffer
	if err := json.Indent(&tabs, object, "\t", "\t"); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"JSON":                string(object),
		"JSON with tabs":      tabs.String(),
		"after another":       "apiVersion: v1\nkind: Namespace\n---\n" + smallCRD,
		"before empty one":    smallCRD + "---\n# nothing\n",
		"with Windows breaks": strings.ReplaceAll(smallCRD, "\n", "\r\n"),
	} {
		got, err := ReadCRD([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got, equalSchemas, cmp.AllowUnexported(Kind{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

var equalSchemas = cmp.Comparer(func(a, b *spec.Schema) bool { return reflect.DeepEqual(a, b) })

func FuzzReadCRD(f *testing.F) {
	taskSet, err := os.ReadFile("testdata/crd/taskset.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(taskSet)
	f.Add([]byte(smallCRD))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("{\"kind\":\t1}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		kinds, err := ReadCRD(data)
		if (err == nil) != (len(kinds) > 0) {
			t.Errorf("got %d kinds and error %v", len(kinds), err)
		}
		for _, k := range kinds {
			if k.Schema == nil || k.Resource == "" || k.Empty() {
				t.Errorf("incomplete: %+v", k)
			}
		}
	})
}
