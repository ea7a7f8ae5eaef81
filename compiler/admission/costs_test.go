package admission

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"

	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/compiler/admission/kind"
)

var update = flag.Bool("update", false, "rewrite docs/costs.md")

const costsPage = "../../docs/costs.md"

// The page of costs is measured, by the API server's own evaluator.
func TestCostsPage(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and evaluates every rule for the largest Jobs")
	}
	page := "# What generated policies cost\n\n" +
		"In the API server's units, as its own evaluator charges them, for one Job of 20 rules with 255 exit codes each and\n" +
		"20 containers and 20 sidecars: one that keeps most rules, one that breaks what it can, and one with 10 rules for exit\n" +
		"codes before 10 for 20 conditions each. Written by `make generate`.\n" +
		"The API server allows 1000000 for an expression, and 10000000 for a policy: its validations and messages, which\n" +
		"compute every variable once each.\n"
	for _, pattern := range []string{"G-*", "[A-FH-Z]*"} {
		page += costTable(t, pattern)
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

// highestShare is the part of the API server's budget that a policy may cost for the largest Job, in percent.
const highestShare = 30

func costTable(t *testing.T, pattern string) string {
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
	kept, broken, mixed := costOf(t, policies[0], target, 0), costOf(t, policies[0], target, 1), costOf(t, policies[0], target, 2)
	for _, cost := range []apiserver.Cost{kept, broken, mixed} {
		if cost.Used*100 > apiserver.PolicyLimit*highestShare {
			t.Errorf("%s cost %d, more than %d %% of the limit", pattern, cost.Used, highestShare)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n| variable | kept | broken | mixed |\n|---|---:|---:|---:|\n", selections[0].catalogue.Name)
	for i, v := range policies[0].Definition.Spec.Variables {
		field := fmt.Sprintf("spec.variables[%d].expression", i)
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", v.Name, highest(kept, field), highest(broken, field), highest(mixed, field))
	}
	fmt.Fprintf(&b, "| **all, and the messages** | %d | %d | %d |\n", kept.Used, broken.Used, mixed.Used)
	fmt.Fprintf(&b, "| **of the limit** | %s | %s | %s |\n", share(kept), share(broken), share(mixed))
	return b.String()
}

func costOf(t *testing.T, p Policy, target Target, shape int) apiserver.Cost {
	t.Helper()
	meter, err := apiserver.NewMeter(p.Definition)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{Object: target.object(Largest()[shape])}
	cost, err := meter.Cost(t.Context(), apiserver.Review{Kind: target.Kind, Operation: admission.Create, Object: object})
	if err != nil {
		t.Fatal(err)
	}
	if cost.Used == 0 {
		t.Fatal("the policy does not look at the largest Job")
	}
	for _, charge := range cost.Charges {
		if charge.Err != nil {
			t.Errorf("%s: %v", charge.Field, charge.Err)
		}
	}
	return cost
}

// highest returns what an expression costs the most times that it is evaluated.
func highest(c apiserver.Cost, field string) uint64 {
	all := map[uint64]bool{0: true}
	for _, charge := range c.Charges {
		if charge.Field == field {
			all[charge.Used] = true
		}
	}
	return slices.Max(slices.Collect(maps.Keys(all)))
}

func share(c apiserver.Cost) string {
	return fmt.Sprintf("%.1f %%", 100*float64(c.Used)/apiserver.PolicyLimit)
}
