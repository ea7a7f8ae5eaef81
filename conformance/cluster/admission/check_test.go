//go:build cluster

package admission

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/compiler/admission/apiserver"
)

// examination is a policy of testdata/policies.yaml.
type examination struct {
	Name, Because string
	// Metadata and Spec are complete.
	Metadata, Spec map[string]any
	// Times is the number of copies to make of a list element of the spec.
	Times map[string]int
	// Invalid fields, separated by spaces, as reported by the API server's validation, its type checking, and Check.
	Refused, Warned, Ours string
}

func examinations(t *testing.T) []examination {
	t.Helper()
	all := decodeFile[[]examination](t, "testdata/policies.yaml")
	if len(all) < 50 {
		t.Fatalf("there are only %d policies", len(all))
	}
	first := all[0]
	for i, e := range all {
		if e.Name == "" || e.Because == "" {
			t.Fatalf("policy %d has no name or no reason", i)
		}
		all[i].Metadata, all[i].Spec = maps.Clone(first.Metadata), maps.Clone(first.Spec)
		maps.Copy(all[i].Metadata, e.Metadata)
		maps.Copy(all[i].Spec, e.Spec)
		for list, n := range e.Times {
			all[i].Spec[list] = repeated(e.Spec[list].([]any)[0].(map[string]any), n)
		}
	}
	return all
}

// repeated returns a list of copies of an element with distinct names.
func repeated(element map[string]any, n int) []any {
	all := make([]any, n)
	for i := range all {
		one := maps.Clone(element)
		for _, name := range []string{"name", "key"} {
			if one[name] != nil {
				one[name] = fmt.Sprint(one[name], i)
			}
		}
		all[i] = one
	}
	return all
}

func (e examination) policy(t *testing.T) *admissionregistrationv1.ValidatingAdmissionPolicy {
	t.Helper()
	text, err := yaml.Marshal(map[string]any{"metadata": e.Metadata, "spec": e.Spec})
	if err != nil {
		t.Fatal(err)
	}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
	if err := yaml.UnmarshalStrict(text, policy); err != nil {
		t.Fatal(err)
	}
	return policy
}

// TestCheckIsAsStrictAsTheAPIServer tests that Check rejects what the API server rejects and what its type checking warns
// about. Both report the same fields, except for fields in the policy's data.
func TestCheckIsAsStrictAsTheAPIServer(t *testing.T) {
	r := newRegistrar(t)
	job := builtIn(t)[0]
	for _, e := range examinations(t) {
		t.Run(e.Name, func(t *testing.T) {
			policy := e.policy(t)
			checked := apiserver.Check(policy, job, "1.37")
			compare(t, "Check", e.Refused+" "+e.Warned+" "+e.Ours, checkedFields(t, checked), checked)
			_, refusal := r.ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{DryRun: dryRun})
			compare(t, "the API server", e.Refused, refusedFields(t, refusal), refusal)
			if refusal != nil {
				if checked == nil {
					t.Error("Check takes what the API server refuses")
				}
				return
			}
			warnings, err := r.warned(t.Context(), policy)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "the type checking", e.Warned, slices.Collect(maps.Keys(warnings)), warnings)
		})
	}
}

// compare checks the fields reported by who. It prints said if they are wrong.
func compare(t *testing.T, who, want string, got []string, said any) {
	t.Helper()
	if diff := cmp.Diff(distinct(strings.Fields(want)...), distinct(got...), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("fields that %s names (-want +got):\n%s\n%v", who, diff, said)
	}
}

func checkedFields(t *testing.T, err error) []string {
	t.Helper()
	var fields []string
	if found, ok := errors.AsType[*apiserver.CheckError](err); ok {
		for _, p := range found.Problems {
			fields = append(fields, p.FieldRef)
		}
	} else if err != nil {
		t.Fatal(err)
	}
	return fields
}

func refusedFields(t *testing.T, err error) []string {
	t.Helper()
	var fields []string
	if refusal, ok := errors.AsType[*apierrors.StatusError](err); ok && apierrors.IsInvalid(err) && refusal.ErrStatus.Details != nil {
		for _, c := range refusal.ErrStatus.Details.Causes {
			fields = append(fields, c.Field)
		}
	} else if err != nil {
		t.Fatal(err)
	}
	return fields
}
