//go:build cluster

package admission

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// request is a request of testdata/requests.yaml.
type request struct {
	Name, Object, Operation string
	Deleting                bool
	Patch                   map[string]any
	// Denied and Warned have messages by rule id.
	Denied, Warned map[string]string

	old, object map[string]any
}

func requests(t *testing.T) []request {
	t.Helper()
	file := decodeFile[struct {
		Objects  map[string]map[string]any
		Requests []request
	}](t, "testdata/requests.yaml")
	if len(file.Requests) == 0 {
		t.Fatal("no requests")
	}
	for i := range file.Requests {
		r := &file.Requests[i]
		r.old = file.Objects[r.Object]
		r.object = patched(t, r.old, r.Patch)
	}
	return file.Requests
}

// patched returns a copy of an object with a merge patch applied.
func patched(t *testing.T, object, patch map[string]any) map[string]any {
	t.Helper()
	merged, err := jsonpatch.MergePatch(marshal(t, object), marshal(t, patch))
	if err != nil {
		t.Fatal(err)
	}
	var result map[string]any
	if err := json.Unmarshal(merged, &result); err != nil {
		t.Fatal(err)
	}
	return result
}

func marshal(t *testing.T, value map[string]any) []byte {
	t.Helper()
	if value == nil {
		return []byte("{}")
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// sorted returns messages in alphabetical order.
func sorted(messages map[string]string) []string { return slices.Sorted(maps.Values(messages)) }
