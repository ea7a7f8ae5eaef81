package interop

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/gatekeeper/v3/pkg/gator/reader"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// vector is one of the conformance suite: what the bundle says of an object.
type vector struct {
	Name              string
	Silent            []string
	Object, OldObject map[string]any
	Settings          map[string]map[string]any
	Want              []struct{ ID, Msg, Severity string }
}

// said is what constraints say, each message after what is done about it, by the id of their rules.
type said map[string][]string

func (s said) add(id, action, message string) {
	s[id] = append(s[id], action+": "+message)
	slices.Sort(s[id])
	s[id] = slices.Compact(s[id])
}

func (v vector) want() said {
	want := said{}
	for _, f := range v.Want {
		want.add(f.ID, actions[f.Severity], f.Msg)
	}
	return want
}

var actions = map[string]string{"error": "deny", "warning": "warn"}

// inForce reports whether the vector is about a rule: about all guardrails that are on, and about the constraints of the
// Job API that it names.
func (v vector) inForce(id string) bool {
	if strings.HasPrefix(v.Name, "guardrails/") {
		enabled, configured := v.Settings[id]["enabled"].(bool)
		return strings.HasPrefix(id, "G-") && (enabled || !configured && id != "G-REPLACEMENT-INDEXED")
	}
	named := slices.Clone(v.Silent)
	for _, f := range v.Want {
		named = append(named, f.ID)
	}
	return slices.Contains(named, id)
}

// repeated are the vectors of updates with a warning that the old object has, too: admission does not say it again.
var repeated = []string{
	"constraints/cronjobs/update-warning-for-a-change",
	"constraints/updates/warning-for-a-change",
}

// gatekeeper reviews the vectors with Gatekeeper's own client.
func (w workshop) gatekeeper(t *testing.T) {
	var vectors []vector
	if err := json.Unmarshal([]byte(w.run(t, 0, "vectors")), &vectors); err != nil || len(vectors) == 0 {
		t.Fatalf("%d vectors: %v", len(vectors), err)
	}
	g := newGatekeeper(t, objects(t))
	t.Run("vectors", func(t *testing.T) { g.answer(t, vectors) })
	t.Run("requests", g.requests)
	t.Run("shared requests", g.sharedRequests)
	t.Run("parameters", g.parameters)
}

// objects returns the templates and constraints of the repository, with a constraint for the guardrail that is off by default.
func objects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, name := range []string{"guardrails-templates", "job-templates", "guardrails-constraints", "job-constraints"} {
		text, err := os.ReadFile("../../config/gatekeeper/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		read, err := reader.ReadK8sResources(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, read...)
	}
	kinds := map[string]any{"apiGroups": []any{"batch"}, "kinds": []any{"Job", "CronJob"}}
	off := map[string]any{
		"apiVersion": "constraints.gatekeeper.sh/v1beta1", "kind": "PodverdictReplacementIndexed",
		"metadata": map[string]any{"name": "replacement-indexed"},
		"spec":     map[string]any{"enforcementAction": "warn", "match": map[string]any{"kinds": []any{kinds}}},
	}
	return append(all, &unstructured.Unstructured{Object: off})
}

// answer holds that the constraints say of each vector what the bundle says, and that each of them says something once.
func (g gatekeeper) answer(t *testing.T, vectors []vector) {
	t.Helper()
	silent := maps.Clone(g.constraints)
	for _, v := range vectors {
		g.only(t, v.inForce)
		for id, settings := range v.Settings {
			if v.inForce(id) {
				g.enforce(t, id, configured(t, g.constraints[id], settings))
			}
		}
		got := g.review(t, create(t, v.Object).replacing(t, v.OldObject))
		want := v.want()
		if slices.Contains(repeated, v.Name) {
			want = said{}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-vector +Gatekeeper):\n%s", v.Name, diff)
		}
		maps.DeleteFunc(silent, func(id string, _ *unstructured.Unstructured) bool { return got[id] != nil })
	}
	if len(silent) > 0 {
		t.Errorf("no vector breaks %s", slices.Sorted(maps.Keys(silent)))
	}
}

// configured returns a constraint with the settings of a guardrail.
func configured(t *testing.T, c *unstructured.Unstructured, settings map[string]any) *unstructured.Unstructured {
	t.Helper()
	c = c.DeepCopy()
	for name, value := range settings {
		path := []string{"spec", "parameters", name}
		switch name {
		case "enabled":
			continue
		case "severity":
			path, value = []string{"spec", "enforcementAction"}, actions[value.(string)]
		}
		if err := unstructured.SetNestedField(c.Object, value, path...); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// requests are those that rules leave alone, and those that they do not: a Job from before the constraint can go on and
// end, and an audit sees it.
func (g gatekeeper) requests(t *testing.T) {
	g.only(t, func(id string) bool { return id == "G-PARALLELISM" })
	const msg = "deny: spec.parallelism: Guardrail G-PARALLELISM: %d: must be at most 1000"
	wide, wider, labelled, leaving := job(5000), job(6000), job(5000), job(5000)
	metadata(labelled)["labels"] = map[string]any{"a": "b"}
	metadata(leaving)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	for _, c := range []struct {
		name    string
		request request
		want    string
	}{
		{"create", create(t, wide), strings.ReplaceAll(msg, "%d", "5000")},
		{"audit", create(t, wide).as(""), strings.ReplaceAll(msg, "%d", "5000")},
		{"update of the metadata", create(t, labelled).replacing(t, wide), ""},
		{"update of the field", create(t, wider).replacing(t, wide), strings.ReplaceAll(msg, "%d", "6000")},
		{"last update of what is being deleted", create(t, leaving).replacing(t, job(1)), ""},
		{"delete", create(t, wide).replacing(t, wide).as(admissionv1.Delete), ""},
	} {
		if got := strings.Join(g.review(t, c.request)["G-PARALLELISM"], "\n"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// parameters that make no sense are refused with the constraint; those that are missing are the defaults.
func (g gatekeeper) parameters(t *testing.T) {
	for _, c := range []struct{ id, parameters string }{
		{"G-PARALLELISM", `{"max": "many"}`},
		{"G-PARALLELISM", `{"max": -1}`},
		{"G-INDEX-FAILED-MAX", `{"maxPercent": 101}`},
		{"G-DISRUPTION-ACTION", `{"actions": ["Retry"]}`},
		{"G-KILL-CODES", `{"codes": []}`},
		{"G-KILL-CODES", `{"unlessDisruptionHandled": 1}`},
	} {
		var parameters map[string]any
		if err := json.Unmarshal([]byte(c.parameters), &parameters); err != nil {
			t.Fatal(err)
		}
		if _, err := g.AddConstraint(t.Context(), configured(t, g.constraints[c.id], parameters)); err == nil {
			t.Errorf("%s is accepted with %s", c.id, c.parameters)
		}
	}
	g.only(t, func(id string) bool { return id == "G-DEADLINE" })
	g.enforce(t, "G-DEADLINE", configured(t, g.constraints["G-DEADLINE"], map[string]any{"max": int64(2592000)}))
	object := job(5000)
	spec(object)["activeDeadlineSeconds"] = 31536000
	const want = "warn: spec.activeDeadlineSeconds: Guardrail G-DEADLINE: 31536000: must be set, from 1 to 2592000"
	if got := strings.Join(g.review(t, create(t, object))["G-DEADLINE"], "\n"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	g.wantDefaults(t, object)
}

// wantDefaults holds that constraints without parameters have the defaults.
func (g gatekeeper) wantDefaults(t *testing.T, object map[string]any) {
	t.Helper()
	g.only(t, func(string) bool { return true })
	want := g.review(t, create(t, object))
	for id, c := range g.constraints {
		c = c.DeepCopy()
		unstructured.RemoveNestedField(c.Object, "spec", "parameters")
		g.enforce(t, id, c)
	}
	if diff := cmp.Diff(want, g.review(t, create(t, object))); diff != "" {
		t.Errorf("(-parameters +none):\n%s", diff)
	}
}
