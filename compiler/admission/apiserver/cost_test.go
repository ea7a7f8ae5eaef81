package apiserver

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apiserver/pkg/admission"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

func TestCostIsChargedByExpression(t *testing.T) {
	r := Review{Kind: mustKind(t, kind.Job), Operation: admission.Create, Object: jobObject(t, `{}`, badSpec)}
	cost, err := newEvaluator(t, "job.yaml").Cost(t.Context(), r)
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

// The measured sum is what the API server's validator takes from the budget: one less
// is too little for it.
func TestCostIsWhatTheValidatorCharges(t *testing.T) {
	e := newEvaluator(t, "job.yaml")
	r := Review{Kind: mustKind(t, kind.Job), Operation: admission.Create, Object: jobObject(t, `{}`, badSpec)}
	cost, err := e.Cost(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	in, err := e.input(r)
	if err != nil {
		t.Fatal(err)
	}
	for budget, want := range map[uint64]bool{cost.Used: true, cost.Used - 1: false} {
		result := e.validator.Validate(t.Context(), in.resource, in.attributes, in.params, nil, int64(budget), nil)
		enough := true
		for _, d := range result.Decisions {
			enough = enough && !strings.Contains(d.Message, "out of cost budget") && !strings.Contains(d.Message, "failed messageExpression")
		}
		if enough != want {
			t.Errorf("a budget of %d is enough: %t, want %t; %+v", budget, enough, want, result.Decisions)
		}
	}
}

func TestCostOfWhatDoesNotMatch(t *testing.T) {
	e := newEvaluator(t, "job.yaml")
	exempt := Review{Kind: mustKind(t, kind.Job), Operation: admission.Create, Object: jobObject(t, `{"labels": {"exempt": ""}}`, badSpec)}
	if cost, err := e.Cost(t.Context(), exempt); err != nil || cost.Used == 0 {
		t.Errorf("exempt: got %+v, error %v", cost, err)
	}
	deletion := Review{Kind: mustKind(t, kind.Job), Operation: admission.Delete, OldObject: exempt.Object}
	if cost, err := e.Cost(t.Context(), deletion); err != nil || cost.Used != 0 {
		t.Errorf("deletion: got %+v, error %v", cost, err)
	}
}

func TestCostOfAnExpressionOverItsLimit(t *testing.T) {
	list := "[0,1,2,3,4,5,6,7,8,9]"
	e := newEvaluator(t, "job.yaml", "object.spec.backoffLimit <= 10", "'"+strings.Repeat(list+".all(x, ", 7)+"true"+strings.Repeat(")", 7)+"'")
	r := Review{Kind: mustKind(t, kind.Job), Operation: admission.Create, Object: jobObject(t, `{}`, goodSpec)}
	cost, err := e.Cost(t.Context(), r)
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
