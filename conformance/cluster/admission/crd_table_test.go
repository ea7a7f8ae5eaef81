//go:build cluster

package admission

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// TestValidateIsTheSchema tests that Validate rejects the same objects as the API server, with the same fields and types
// of errors, and accepts the same objects, with the same defaults. Every rule of the schemas rejects at least one object
// and accepts at least one.
func TestValidateIsTheSchema(t *testing.T) {
	s := newKinds(t)
	fired, silent := map[schemaRule]bool{}, map[string]map[string]int{}
	for _, e := range examples(t) {
		t.Run(e.Name, func(t *testing.T) {
			object := e.object()
			made, refused := s.submit(t, e, object)
			if diff := cmp.Diff(e.Refused, refused.fields(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the API server (-want +got):\n%s%.2000v", diff, refused)
			}
			for _, c := range refused {
				if c.typ != strict && c.typ != "FieldValueTypeInvalid" { // neither is a rule
					fired[c.fired(e.Kind)] = true
				}
			}
			if refused == nil {
				if silent[e.Kind] == nil {
					silent[e.Kind] = map[string]int{}
				}
				paths("", object, silent[e.Kind])
			}
			if e.Status == nil {
				sameAnswer(t, e, object, made)
			}
		})
	}
	for _, r := range schemaRules(t) {
		if !fired[r] {
			t.Errorf("nothing is refused by %s", r)
		}
		least := 1
		if r.keyword == "unique" {
			least = 2
		}
		if silent[r.kind][r.path] < least {
			t.Errorf("nothing is taken by %s", r)
		}
		delete(fired, r)
	}
	for r := range fired {
		t.Errorf("no rule of a schema is %.200s", r)
	}
}

// submit sends an object, or only its status if it has one.
func (s *kinds) submit(t *testing.T, e example, object map[string]any) (*unstructured.Unstructured, refusal) {
	t.Helper()
	if e.Status == nil {
		return s.create(t, object)
	}
	base := &unstructured.Unstructured{Object: smallest(e.Kind)}
	stored, err := s.resource(e.Kind).Create(t.Context(), base, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stored.Object["status"] = object["status"]
	_, refused := s.resource(e.Kind).UpdateStatus(t.Context(), stored, metav1.UpdateOptions{DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict})
	if err := s.resource(e.Kind).Delete(t.Context(), stored.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	return nil, refusalOf(t, refused)
}

// sameAnswer compares our answer with the API server's.
func sameAnswer(t *testing.T, e example, object map[string]any, made *unstructured.Unstructured) {
	t.Helper()
	decoded, refused := ours(t, object)
	if diff := cmp.Diff(e.Ours, refused.fields(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("Validate (-want +got):\n%s%.2000v", diff, refused)
	}
	if e.Refused == nil && refused == nil {
		sameSpec(t, made, decoded)
	}
}

// sameSpec compares our defaults with the API server's, and the Go types with the stored object.
func sameSpec(t *testing.T, made *unstructured.Unstructured, decoded v1alpha1.Object) {
	t.Helper()
	text, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	theirs := v1alpha1.New(made.GroupVersionKind())
	if err := json.Unmarshal(text, theirs); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(spec(theirs), spec(decoded)); diff != "" {
		t.Errorf("what the API server makes of it and what we do (-server +ours):\n%s", diff)
	}
}

func spec(object v1alpha1.Object) any {
	switch o := object.(type) {
	case *v1alpha1.PodFailurePolicy:
		return o.Spec
	case *v1alpha1.PodFailurePolicyBinding:
		return o.Spec
	}
	return nil
}
