package apiserver

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apiserver/pkg/admission"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

func newMeter(t testing.TB, file string, replacements ...string) *Meter {
	t.Helper()
	m, err := NewMeter(readPolicy(t, file, replacements...))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCostIsChargedByExpression(t *testing.T) {
	r := Review{Kind: mustKind(t, kind.Job), Operation: admission.Create, Object: jobObject(t, `{}`, badSpec)}
	cost, err := newMeter(t, "job.yaml").Cost(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var fields []string
	var used uint64
	for _, c := range cost.Charges {
		fields = append(fields, c.Field)
		used += c.Used
		if c.Used == 0 || c.Err != nil {
			t.Errorf("%s costs %d, error %v", c.Field, c.Used, c.Err)
		}
	}
	if used != cost.Used || used > PolicyLimit {
		t.Errorf("charges of %d make %d, limit %d", used, cost.Used, PolicyLimit)
	}
	want := []string{
		"spec.validations[0].expression",
		"spec.variables[0].expression",
		"spec.variables[1].expression",
		"spec.validations[1].expression",
		"spec.validations[2].expression",
		"spec.validations[0].messageExpression",
	}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("charges (-want +got):\n%s", diff)
	}
}

// Match conditions keep the API server from evaluating anything, and are not asked here.
func TestCostOfWhatDoesNotMatch(t *testing.T) {
	r := Review{Kind: mustKind(t, kind.Job), Operation: admission.Create, Object: jobObject(t, `{"labels": {"exempt": ""}}`, badSpec)}
	if cost, err := newMeter(t, "job.yaml").Cost(t.Context(), r); err != nil || cost.Used == 0 {
		t.Errorf("got %+v, error %v", cost, err)
	}
}

func TestCostOfAnExpressionOverItsLimit(t *testing.T) {
	list := "[0,1,2,3,4,5,6,7,8,9]"
	m := newMeter(t, "job.yaml", "object.spec.backoffLimit <= 10", "'"+strings.Repeat(list+".all(x, ", 7)+"true"+strings.Repeat(")", 7)+"'")
	r := Review{Kind: mustKind(t, kind.Job), Operation: admission.Create, Object: jobObject(t, `{}`, goodSpec)}
	cost, err := m.Cost(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	first := cost.Charges[0]
	want := Charge{Field: "spec.validations[0].expression"}
	if diff := cmp.Diff(want, first, cmpopts.IgnoreFields(Charge{}, "Used", "Err")); diff != "" {
		t.Errorf("first charge (-want +got):\n%s", diff)
	}
	if first.Used < ExpressionLimit || first.Err == nil || !strings.Contains(first.Err.Error(), "cost limit exceeded") {
		t.Errorf("got cost %d and error %v", first.Used, first.Err)
	}
}

func TestNewMeterNamesWhatDoesNotCompile(t *testing.T) {
	_, err := NewMeter(readPolicy(t, "job.yaml",
		"object.spec.backoffLimit <= 10", "objekt.spec.backoffLimit <= 10",
		`object.spec.template.spec.restartPolicy == "Never"`, "1 + 1"))
	invalid, ok := errors.AsType[*CheckError](err)
	if !ok {
		t.Fatalf("got error %v, want a *CheckError", err)
	}
	var got []string
	for _, p := range invalid.Problems {
		got = append(got, p.FieldRef)
	}
	want := []string{"spec.validations[0].expression", "spec.validations[2].expression"}
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}
