package interop

import (
	"maps"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/yaml"
)

// sharedRequests are those that the generated policies and the webhook answer on a real API server.
func (g gatekeeper) sharedRequests(t *testing.T) {
	text, err := os.ReadFile("../cluster/admission/testdata/requests.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Objects  map[string]map[string]any
		Requests []struct {
			Name, Object, Operation string
			Deleting                bool
			Patch                   map[string]any
			Denied, Warned          map[string]string
		}
	}
	if err := yaml.UnmarshalStrict(text, &file); err != nil || len(file.Requests) == 0 {
		t.Fatalf("%d requests: %v", len(file.Requests), err)
	}
	g.only(t, func(id string) bool { return id[:2] == "G-" && id != "G-REPLACEMENT-INDEXED" })
	for _, r := range file.Requests {
		old := file.Objects[r.Object]
		if r.Deleting {
			old = merged(old, map[string]any{"metadata": map[string]any{"deletionTimestamp": "2026-01-01T00:00:00Z"}})
		}
		asked := create(t, merged(old, r.Patch))
		if r.Operation != string(admissionv1.Create) {
			asked = asked.replacing(t, old).as(admissionv1.Operation(r.Operation))
		}
		want := said{}
		for id, message := range r.Denied {
			want.add(id, "deny", message)
		}
		for id, message := range r.Warned {
			want.add(id, "warn", message)
		}
		if diff := cmp.Diff(want, g.review(t, asked)); diff != "" {
			t.Errorf("%s (-want +Gatekeeper):\n%s", r.Name, diff)
		}
	}
}

// merged returns an object with a merge patch on it.
func merged(object, patch map[string]any) map[string]any {
	result := maps.Clone(object)
	if result == nil {
		result = map[string]any{}
	}
	for name, value := range patch {
		members, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(result, name)
		case isObject:
			inner, _ := result[name].(map[string]any)
			result[name] = merged(inner, members)
		default:
			result[name] = value
		}
	}
	return result
}
