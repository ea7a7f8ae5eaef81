package admission

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// TestNamesAndLabels checks that a policy's name does not depend on its actions, so that a policy
// generated later with other actions replaces it.
func TestNamesAndLabels(t *testing.T) {
	for name, test := range map[string]struct {
		actions map[string]string
		want    []string
	}{
		"default":           {nil, []string{"errors", "warnings"}},
		"a trial":           {map[string]string{"error": "Warn"}, []string{"errors", "warnings"}},
		"all denied":        {map[string]string{"warning": "Deny"}, []string{"errors"}},
		"all warned of":     {map[string]string{"error": "Warn+Audit"}, []string{"errors"}},
		"one audited":       {map[string]string{"G-TTL": "Audit"}, []string{"errors", "g-ttl", "warnings"}},
		"one denied":        {map[string]string{"G-TTL": "Deny+Audit"}, []string{"errors", "g-ttl", "warnings"}},
		"two alike audited": {map[string]string{"G-TTL": "Audit", "G-DEADLINE": "Audit"}, []string{"errors", "g-deadline", "warnings"}},
	} {
		actions, err := ParseActions(test.actions)
		if err != nil {
			t.Fatal(err)
		}
		selections, err := Select([]string{"G-*"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		policies, err := selections[0].Policies(Options{
			Name: "acme", Version: "v1.2.3+dirty", Kubernetes: "1.37", Target: jobTarget(t), Actions: actions, Failure: admissionregistrationv1.Fail,
		})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range policies {
			names = append(names, p.Definition.Name)
			want := map[string]string{LabelPartOf: "podverdict", LabelInstance: "acme", LabelComponent: "guardrails", labelVersion: "v1.2.3_dirty"}
			if diff := cmp.Diff([]map[string]string{want, want}, []map[string]string{p.Definition.Labels, p.Binding.Labels}); diff != "" {
				t.Errorf("%s: labels (-want +got):\n%s", name, diff)
			}
		}
		slices.Sort(names)
		for i := range test.want {
			test.want[i] = "acme-guardrails-job-" + test.want[i]
		}
		if diff := cmp.Diff(test.want, names); diff != "" {
			t.Errorf("%s: names (-want +got):\n%s", name, diff)
		}
	}
}
