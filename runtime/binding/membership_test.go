package binding_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime/binding"
)

// checkMemberships checks that the policies in effect are the selected ones, and that every other
// outcome has a reason.
func checkMemberships(t *rapid.T, set *binding.Set, selection binding.Selection, job *batchv1.Job, namespace labels.Set) {
	explained, err := set.Explain(t.Context(), job, namespace)
	if err != nil {
		t.Fatal(err)
	}
	selected, inForce := map[string]string{}, map[string]string{}
	for policy, bound := range selection.All() {
		selected[bound.Name] = policy.Name
	}
	for _, m := range explained {
		if (m.Outcome == binding.InForce) != (m.Because == "") {
			t.Fatalf("%+v", m)
		}
		if m.Outcome == binding.InForce {
			inForce[m.Binding] = m.Policy
		}
	}
	if diff := cmp.Diff(selected, inForce); diff != "" {
		t.Fatalf("in force (-selected +explained)\n%s", diff)
	}
}

func TestExplain(t *testing.T) {
	jobs := func(selector *v1alpha1.LabelSelector) func(*v1alpha1.PodFailurePolicyBindingSpec) {
		return func(s *v1alpha1.PodFailurePolicyBindingSpec) { s.JobSelector = selector }
	}
	namespaces := func(s *v1alpha1.PodFailurePolicyBindingSpec) { s.NamespaceSelector = team("prod") }
	exists := &v1alpha1.LabelSelector{MatchExpressions: []v1alpha1.LabelRequirement{{Key: "etl", Operator: metav1.LabelSelectorOpExists}}}
	set, err := binding.NewSet(
		byName(policy(t, "plain"), policy(t, "broken", "job.metadata.name == 'x' || [true][size(job.metadata.name)]"),
			policy(t, "conditional", "job.metadata.namespace != ''", "job.metadata.name == 'x' || job.metadata.namespace == 'y'",
				"[true][size(job.metadata.name)]")),
		[]*v1alpha1.PodFailurePolicyBinding{
			bindingOf("1", "plain", audit), bindingOf("2", "plain", after), bindingOf("3", "plain"),
			bindingOf("4", "conditional"), bindingOf("5", "broken"), bindingOf("6", "missing"),
			bindingOf("7", "plain", jobs(team("b"))), bindingOf("8", "plain", jobs(exists)), bindingOf("9", "plain", namespaces),
		})
	if err != nil {
		t.Fatal(err)
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "n", Labels: map[string]string{"team": "a"}}}
	explained, err := set.Explain(t.Context(), job, labels.Set{"team": "dev"})
	if err != nil {
		t.Fatal(err)
	}
	var got [][4]string
	for _, m := range explained {
		field := ""
		if m.Condition != nil {
			field = m.Condition.Field
		}
		got = append(got, [4]string{m.Binding, string(m.Outcome), m.Because, field})
	}
	want := [][4]string{
		{"1", "in force by another binding", "binding 2 binds it to the Job", ""},
		{"2", "in force", "", ""},
		{"3", "in force by another binding", "binding 2 binds it to the Job", ""},
		{
			"4", "match condition not met", "job.metadata.name == 'x' is false, and job.metadata.namespace == 'y' is false",
			"spec.matchConditions[1].expression",
		},
		{"5", "match condition not met", "the expression could not be evaluated", "spec.matchConditions[0].expression"},
		{"7", "Job not selected", "jobSelector wants team=b, and the Job has team=a", ""},
		{"8", "Job not selected", "jobSelector wants etl, and the Job has no such label", ""},
		{"9", "namespace not selected", "namespaceSelector wants team=prod, and namespace n has team=dev", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestExplainCutShort checks that there is no partial explanation if the context is done.
func TestExplainCutShort(t *testing.T) {
	set, err := binding.NewSet(byName(policy(t, "a", "job.metadata.name == 'x'")), []*v1alpha1.PodFailurePolicyBinding{bindingOf("1", "a")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := set.Explain(ctx, &batchv1.Job{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if all, err := (*binding.Set)(nil).Explain(t.Context(), &batchv1.Job{}, nil); err != nil || all != nil {
		t.Errorf("of nothing: %v, %v", all, err)
	}
}
