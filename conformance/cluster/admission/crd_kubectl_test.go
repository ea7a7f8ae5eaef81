//go:build cluster

package admission

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
)

// TestKubectl tests that kubectl accepts the objects, knows the short names, and prints the columns.
func TestKubectl(t *testing.T) {
	s := newKinds(t)
	kubectl := func(arguments ...string) string {
		t.Helper()
		return s.Kubectl(t, nil, arguments...)
	}
	kubectl("apply", "-f", "testdata/training.yaml")
	before := columns(kubectl("get", "pfp", "training"))
	if diff := cmp.Diff([]string{"NAME", "RULES", "READY", "AGE", "training"}, before[:5]); diff != "" {
		t.Errorf("without a status (-want +got):\n%s", diff)
	}
	s.writeStatus(t, "training", v1alpha1.PodFailurePolicyStatus{
		ObservedGeneration: 1, Rules: 2, TypeChecking: &v1alpha1.TypeChecking{},
		Conditions: []metav1.Condition{{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompiled, LastTransitionTime: metav1.Now(),
		}},
	})
	after := columns(kubectl("get", "podfailurepolicies", "training"))
	if diff := cmp.Diff([]string{"NAME", "RULES", "READY", "AGE", "training", "2", "True"}, after[:len(after)-1]); diff != "" {
		t.Errorf("a policy (-want +got):\n%s", diff)
	}
	binding := columns(kubectl("get", "pfpb", "training-late"))
	want := []string{"NAME", "POLICY", "POSITION", "MODE", "JOBS", "NOT-CARRIED-OUT", "AGE", "training-late", "training", "After", "Enforce"}
	if diff := cmp.Diff(want, binding[:len(binding)-1]); diff != "" {
		t.Errorf("a binding (-want +got):\n%s", diff)
	}
	if got := kubectl("explain", "pfp.spec.rules.retryDelay"); !strings.Contains(got, "from 0s to 24h") {
		t.Errorf("what is said of retryDelay:\n%s", got)
	}
	kubectl("delete", "-f", "testdata/training.yaml")
}

// TestExamplesAreTaken tests that the API server accepts the examples of custom policies and their Jobs, including the
// Job that Kubernetes itself is to run.
func TestExamplesAreTaken(t *testing.T) {
	s := newKinds(t)
	arguments := []string{"apply", "--dry-run=server", "--validate=strict"}
	for _, kind := range []string{"policy", "*job"} {
		files, err := filepath.Glob(moduleRoot + "/examples/custom/*/" + kind + ".yaml")
		if err != nil || len(files) == 0 {
			t.Fatalf("examples: %v, %v", files, err)
		}
		for _, file := range files {
			arguments = append(arguments, "-f", file)
		}
	}
	s.Kubectl(t, nil, arguments...)
}

func columns(table string) []string { return strings.Fields(table) }

// TestLongFindingsFit tests that the API server accepts the truncated status of a policy with too many findings.
func TestLongFindingsFit(t *testing.T) {
	s := newKinds(t)
	base := &unstructured.Unstructured{Object: smallest(v1alpha1.KindPodFailurePolicy)}
	base.SetName("long")
	policies := s.resource(v1alpha1.KindPodFailurePolicy)
	if _, err := policies.Create(t.Context(), base, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	findings := make([]compiler.Finding, 1000)
	for i := range findings {
		findings[i] = compiler.Finding{RuleName: strings.Repeat("r", 63), Line: 1, Column: 1, Field: "spec.rules[0].when", Message: strings.Repeat("🙂", 10_000)}
	}
	s.writeStatus(t, "long", v1alpha1.PodFailurePolicyStatus{TypeChecking: custom.TypeChecking(findings)})
	if err := policies.Delete(t.Context(), "long", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// writeStatus writes a policy's status from its Go type.
func (s *kinds) writeStatus(t *testing.T, name string, status v1alpha1.PodFailurePolicyStatus) {
	t.Helper()
	policies := s.resource(v1alpha1.KindPodFailurePolicy)
	stored, err := policies.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	var policy v1alpha1.PodFailurePolicy
	if err := json.Unmarshal(text, &policy); err != nil {
		t.Fatal(err)
	}
	policy.Status = status
	if text, err = json.Marshal(policy); err != nil {
		t.Fatal(err)
	}
	if err := stored.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	_, err = policies.UpdateStatus(t.Context(), stored, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		t.Fatalf("%.2000v", err)
	}
}
