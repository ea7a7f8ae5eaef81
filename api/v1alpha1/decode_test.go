package v1alpha1_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

const header = "apiVersion: podverdict.io/v1alpha1\nkind: PodFailurePolicy\nmetadata: {name: training}\n"

func TestDecode(t *testing.T) {
	text := header + `spec:
  rules:
  - {name: oom, when: "true", action: Count, budget: {limit: 3, then: FailIndex}, retryDelay: 1m30s}
  - {name: image, phase: Pending, when: "false", action: FailJob}
`
	want := &v1alpha1.PodFailurePolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "podverdict.io/v1alpha1", Kind: "PodFailurePolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: "training"},
		Spec: v1alpha1.PodFailurePolicySpec{FailurePolicy: v1alpha1.FailurePolicyIgnore, Rules: []v1alpha1.Rule{
			{
				Name: "oom", Phase: corev1.PodFailed, When: "true", Action: batchv1.PodFailurePolicyActionCount,
				Budget:     &v1alpha1.Budget{Limit: 3, Per: v1alpha1.PerJob, Then: batchv1.PodFailurePolicyActionFailIndex},
				RetryDelay: &metav1.Duration{Duration: 90 * time.Second},
			},
			{Name: "image", Phase: corev1.PodPending, When: "false", Action: batchv1.PodFailurePolicyActionFailJob},
		}},
	}
	got, err := v1alpha1.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v1alpha1.Object(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if found := got.Validate(); found != nil {
		t.Error(found)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", "want one object, got 0 documents"},
		{"two documents", header + "---\n" + header, "want one object, got 2 documents"},
		{"no YAML", "spec: [", "not YAML: yaml: line 1: did not find expected node content"},
		{"no object", "[]", "not an object of Kubernetes: json: cannot unmarshal array"},
		{"no kind", "apiVersion: podverdict.io/v1alpha1", "kind: Required value"},
		{"no version", "kind: PodFailurePolicy", "apiVersion: Required value"},
		{
			"another kind", "apiVersion: batch/v1\nkind: Job",
			"want a PodFailurePolicy or PodFailurePolicyBinding of podverdict.io/v1alpha1, got a Job of batch/v1",
		},
		{
			"another version", "apiVersion: podverdict.io/v1\nkind: PodFailurePolicy",
			"want a PodFailurePolicy or PodFailurePolicyBinding of podverdict.io/v1alpha1, got a PodFailurePolicy of podverdict.io/v1",
		},
		{"unknown field", header + "spec: {rules: [{wen: 'true'}]}", `PodFailurePolicy "training": unknown field "spec.rules[0].wen"`},
		{"case of a field", header + "spec: {Rules: []}", `PodFailurePolicy "training": unknown field "spec.Rules"`},
		{"repeated field", header + "spec: {rules: []}\nspec: {}", "not YAML: yaml: unmarshal errors:\n  line 5: key \"spec\" already set in map"},
		{
			"repeated field in JSON", `{"apiVersion":"podverdict.io/v1alpha1","kind":"PodFailurePolicy","spec":{"rules":[],"rules":[]}}`,
			`PodFailurePolicy: duplicate field "spec.rules"`,
		},
		{"wrong type", header + "spec: {rules: [{budget: {limit: many}}]}", `PodFailurePolicy "training": json: cannot unmarshal string into Go struct field Budget.spec.rules.budget.limit of type int32`},
		{"empty text", header + "spec: {rules: [{reason: ''}]}", `PodFailurePolicy "training": spec.rules[0].reason: Invalid value: "": must not be empty; leave it out`},
		{
			"null for a label", "apiVersion: podverdict.io/v1alpha1\nkind: PodFailurePolicyBinding\nmetadata: {name: b}\nspec:\n  jobSelector:\n    matchLabels:\n      gpu:\n",
			`PodFailurePolicyBinding "b": spec.jobSelector.matchLabels[gpu]: Invalid value: must not be null, which the API server drops; an empty label is ''`,
		},
		{"null for a rule", header + "spec: {rules: [null]}", `PodFailurePolicy "training": spec.rules[0]: Invalid value: must not be null`},
		{
			"two delays", header + "spec: {rules: [{retryDelay: 1d}, {retryDelay: 00001h00001h00001h0s}]}",
			`PodFailurePolicy "training": [spec.rules[0].retryDelay: Invalid value: "1d": must be whole hours, minutes and seconds, as 1h30m, ` +
				`spec.rules[1].retryDelay: Too long: may not be more than 18 characters]`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := v1alpha1.Decode([]byte(tc.text))
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) || got != nil {
				t.Errorf("%v, %v, want %s", got, err, tc.want)
			}
		})
	}
}

// Decoding and encoding an object loses nothing, and Decode accepts the result.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(header + "spec: {rules: [{name: a, when: 'true', action: Ignore, retryDelay: 1h}]}"))
	f.Add([]byte("apiVersion: podverdict.io/v1alpha1\nkind: PodFailurePolicyBinding\nspec: {policyName: a, jobSelector: {matchLabels: {a: b}}}"))
	f.Add([]byte(`{"apiVersion":"podverdict.io/v1alpha1","kind":"PodFailurePolicy","spec":{"rules":[{"budget":{"limit":0}}]},"status":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		object, err := v1alpha1.Decode(data)
		if err != nil {
			return
		}
		valid := len(object.Validate()) == 0
		sent, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		again, err := v1alpha1.Decode(sent)
		if err != nil {
			if valid {
				t.Fatalf("%s: %v", sent, err)
			}
			return
		}
		if diff := cmp.Diff(object, again); valid && diff != "" {
			t.Errorf("(-first +second):\n%s", diff)
		}
	})
}
