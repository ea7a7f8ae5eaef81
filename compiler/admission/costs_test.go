package admission

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/internal/testing/evaluator"
)

var update = flag.Bool("update", false, "rewrite docs/costs.md")

const costsPage = "../../docs/costs.md"

// TestCostsPage checks the costs page against measurements with the API server's own evaluator.
func TestCostsPage(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and evaluates every rule for the largest Jobs")
	}
	page := "# What generated policies cost\n\n" +
		"In the API server's units, as its own evaluator charges them, for one Job of 20 rules with 255 exit codes each and\n" +
		"20 containers and 20 sidecars: one that keeps most rules, one that breaks what it can, and one with 10 rules for exit\n" +
		"codes before 10 for 20 conditions each. Written by `make generate`.\n" +
		fmt.Sprintf("The API server allows %d for a policy: its validations and messages, which compute every variable once each.\n", apiserver.PolicyLimit) +
		"\n| rules | kept | broken | mixed |\n|---|---:|---:|---:|\n"
	for _, pattern := range []string{"G-*", "[A-FH-Z]*"} {
		page += costRow(t, pattern)
	}
	if *update {
		if err := os.WriteFile(costsPage, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(costsPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(have), page); diff != "" {
		t.Errorf("%s is stale, run make generate (-page +measured):\n%s", costsPage, diff)
	}
}

// highestShare is the maximum share of the API server's budget that a policy may use for the largest Job, in
// percent.
const highestShare = 30

func costRow(t *testing.T, pattern string) string {
	t.Helper()
	k, err := kind.Job()
	if err != nil {
		t.Fatal(err)
	}
	target, err := NewTarget(k, "spec")
	if err != nil {
		t.Fatal(err)
	}
	selections, err := Select([]string{pattern}, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}
	policies, err := selections[0].Policies(Options{
		Name: "cost", Kubernetes: "1.37", Target: target, Failure: admissionregistrationv1.Fail, Actions: Actions{"error": one, "warning": one},
	})
	if err != nil {
		t.Fatal(err)
	}
	row := "| " + selections[0].catalogue.Name
	for _, spec := range Largest() {
		cost := costOf(t, policies[0], target, spec)
		if cost == 0 || cost*100 > apiserver.PolicyLimit*highestShare {
			t.Errorf("%s cost %d, nothing or more than %d %% of the limit", pattern, cost, highestShare)
		}
		row += fmt.Sprintf(" | %d (%.1f %%)", cost, 100*float64(cost)/apiserver.PolicyLimit)
	}
	return row + " |\n"
}

// costOf returns the cost of a policy for a Job, and checks that all its expressions can be evaluated within the
// limit of each.
func costOf(t *testing.T, p Policy, target Target, spec map[string]any) uint64 {
	t.Helper()
	meter, err := apiserver.NewMeter(p.Definition)
	if err != nil {
		t.Fatal(err)
	}
	review := apiserver.Review{Kind: target.Kind, Operation: admission.Create, Object: &unstructured.Unstructured{Object: target.object(spec)}}
	cost, errMeter := meter.Cost(t.Context(), review)
	result, errServer := evaluator.New(p.Definition).Evaluate(t.Context(), review)
	if err := errors.Join(errMeter, errServer); err != nil || len(result.Decisions) == 0 {
		t.Fatalf("%d decisions, error %v", len(result.Decisions), err)
	}
	for _, d := range result.Decisions {
		if d.Evaluation == validating.EvalError {
			t.Error(d.Message)
		}
	}
	return cost
}
