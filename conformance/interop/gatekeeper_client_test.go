package interop

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/open-policy-agent/frameworks/constraint/pkg/apis"
	"github.com/open-policy-agent/frameworks/constraint/pkg/client"
	"github.com/open-policy-agent/gatekeeper/v3/pkg/gator"
	"github.com/open-policy-agent/gatekeeper/v3/pkg/gator/reader"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// gatekeeper is Gatekeeper's client with templates in it.
type gatekeeper struct {
	*client.Client

	// constraints are as they come, by the ids of their rules, and inForce are those that Gatekeeper has.
	constraints, inForce map[string]*unstructured.Unstructured
}

func newGatekeeper(t *testing.T, objects []*unstructured.Unstructured) gatekeeper {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := apis.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	made, err := gator.NewOPAClient(false)
	if err != nil {
		t.Fatal(err)
	}
	g := gatekeeper{made.(*client.Client), map[string]*unstructured.Unstructured{}, map[string]*unstructured.Unstructured{}}
	ids := map[string]string{}
	for _, o := range objects {
		if reader.IsConstraint(o) {
			g.constraints[ids[o.GetKind()]] = o
			continue
		}
		template, err := reader.ToTemplate(scheme, o)
		if err != nil {
			t.Fatalf("%s: %v", o.GetName(), err)
		}
		if _, err := g.AddTemplate(t.Context(), template); err != nil {
			t.Fatalf("%s: %v", o.GetName(), err)
		}
		ids[template.Spec.CRD.Spec.Names.Kind], _, _ = strings.Cut(template.Annotations["metadata.gatekeeper.sh/title"], ":")
	}
	if len(ids) < 2 || len(g.constraints) != len(ids) {
		t.Fatalf("%d templates, %d constraints", len(ids), len(g.constraints))
	}
	return g
}

// enforce puts a constraint in force in the place of the rule's other one.
func (g gatekeeper) enforce(t *testing.T, id string, c *unstructured.Unstructured) {
	t.Helper()
	if _, err := g.AddConstraint(t.Context(), c); err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	g.inForce[id] = c
}

// only leaves those constraints in force that are wanted, as they come.
func (g gatekeeper) only(t *testing.T, wanted func(id string) bool) {
	t.Helper()
	for id, c := range g.constraints {
		switch {
		case wanted(id) && g.inForce[id] != c:
			g.enforce(t, id, c)
		case !wanted(id) && g.inForce[id] != nil:
			if _, err := g.RemoveConstraint(t.Context(), c); err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			delete(g.inForce, id)
		}
	}
}

// review returns what is said of a request.
func (g gatekeeper) review(t *testing.T, r request) said {
	t.Helper()
	responses, err := g.Review(t.Context(), admissionv1.AdmissionRequest(r))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for id, c := range g.constraints {
		ids[c.GetKind()] = id
	}
	got := said{}
	for _, result := range responses.Results() {
		got.add(ids[result.Constraint.GetKind()], result.EnforcementAction, result.Msg)
	}
	return got
}

// request is an object on its way to the API server.
type request admissionv1.AdmissionRequest

func create(t *testing.T, object map[string]any) request {
	t.Helper()
	r := request{Operation: admissionv1.Create}
	kind, _ := object["kind"].(string)
	r.Kind = metav1.GroupVersionKind{Group: "batch", Version: "v1", Kind: kind}
	r.Object.Raw = marshal(t, object)
	return r
}

// replacing returns an update of an older object, if there is one.
func (r request) replacing(t *testing.T, old map[string]any) request {
	t.Helper()
	if old != nil {
		r.OldObject.Raw, r.Operation = marshal(t, old), admissionv1.Update
	}
	return r
}

func (r request) as(operation admissionv1.Operation) request {
	r.Operation = operation
	return r
}

func marshal(t *testing.T, object map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func job(parallelism int) map[string]any {
	return map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "j"},
		"spec": map[string]any{
			"parallelism": parallelism,
			"template":    map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "main"}}}},
		},
	}
}

func metadata(object map[string]any) map[string]any { return object["metadata"].(map[string]any) }

func spec(object map[string]any) map[string]any { return object["spec"].(map[string]any) }
