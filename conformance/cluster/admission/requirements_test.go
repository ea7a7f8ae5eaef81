//go:build cluster

package admission

import (
	"context"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// training is a custom policy for the Jobs of a team.
const training = `{"apiVersion": "podverdict.io/v1alpha1", "kind": "PodFailurePolicy", "metadata": {"name": "training"}, "spec": {
	"matchConditions": [
		{"name": "team", "expression": "job.metadata.labels.team == 'training'"},
		{"name": "manifest", "expression": "job.metadata.namespace != '' && job.metadata.uid != '' && job.metadata.name.startsWith('train-') || job.spec.template.spec.containers.size() > 9"}
	],
	"rules": [{"name": "bad-node", "when": "attempt > 3", "action": "FailIndex"}]
}}`

// TestRequirementsOfCustomPolicies tests that the API server enforces a policy's requirements for the Jobs that a binding
// selects, and the CronJobs of such Jobs, but for no others.
func TestRequirementsOfCustomPolicies(t *testing.T) {
	s := newServer(t)
	s.require(t, training)
	onFailure := map[string]any{"restartPolicy": "OnFailure"}
	const (
		restart = "spec.template.spec.restartPolicy: Requirement C-RESTART-POLICY: OnFailure: must be Never for rule bad-node of PodFailurePolicy training: Pods restart their containers otherwise, and do not fail"
		limit   = "spec.backoffLimitPerIndex: Requirement C-LIMIT-PER-INDEX: must be set for rule bad-node of PodFailurePolicy training: FailIndex only counts the failure otherwise"
		manager = "spec.managedBy: Requirement C-MANAGED-BY: must be podverdict.io/job-controller for rule bad-node of PodFailurePolicy training: other controllers do not know of it"
	)
	managed := map[string]any{
		"managedBy": "podverdict.io/job-controller", "completionMode": "Indexed", "completions": int64(2), "backoffLimitPerIndex": int64(1),
	}
	team := map[string]any{"team": "training", "size": "large"}
	for _, tc := range []struct {
		name      string
		labels    map[string]any
		spec, pod map[string]any
		want      string // message of the denial
		warned    []string
	}{
		{"ready", team, managed, nil, "", nil},
		{"restarts containers", team, managed, onFailure, restart, nil},
		{"has no indexes and another controller", team, nil, nil, limit, []string{manager}},
		{"is of another team", map[string]any{"team": "web", "size": "large"}, nil, onFailure, "", nil},
		{"has no team, of which the condition fails", map[string]any{"size": "large"}, nil, onFailure, "", nil},
		{"is not selected", map[string]any{"team": "training"}, nil, onFailure, "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			job := trainingJob(tc.labels, tc.spec, tc.pod)
			warned, err := s.create(t.Context(), s.resource(job), job)
			if got := denial(err); got != tc.want {
				t.Errorf("denied because of %q, want %q", got, tc.want)
			}
			if diff := cmp.Diff(tc.warned, warned); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// require installs the requirements of a custom policy in the server's namespace, for Jobs with a label.
func (s *server) require(t *testing.T, text string) {
	t.Helper()
	object, err := v1alpha1.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	policy, ok := object.(*v1alpha1.PodFailurePolicy)
	if !ok {
		t.Fatalf("a %T", object)
	}
	binding := &v1alpha1.PodFailurePolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}, Spec: v1alpha1.PodFailurePolicyBindingSpec{
		PolicyName:        policy.Name,
		NamespaceSelector: &v1alpha1.LabelSelector{MatchLabels: map[string]v1alpha1.LabelValue{corev1.LabelMetadataName: v1alpha1.LabelValue(s.Namespace)}},
		JobSelector:       &v1alpha1.LabelSelector{MatchLabels: map[string]v1alpha1.LabelValue{"size": "large"}},
	}}
	binding.SetDefaults()
	environment, err := compiler.NewEnvironment(s.Cluster.Version)
	if err != nil {
		t.Fatal(err)
	}
	all, err := admission.Custom{Policy: policy, Binding: binding}.Policies(environment, admission.Options{
		Name: "test", Kubernetes: s.Cluster.Version, Target: builtInTargets(t)[0], Actions: admission.DefaultActions(),
		Failure: admissionregistrationv1.Ignore,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		s.apply(t, p.Definition, p.Binding)
	}
	careless := trainingJob(map[string]any{"team": "training", "size": "large"}, nil, map[string]any{"restartPolicy": "OnFailure"})
	testcluster.Eventually(t, "what the policy requires", func(ctx context.Context) (bool, error) {
		warned, err := s.create(ctx, s.resource(careless), careless)
		return err != nil && len(warned) > 0, nil
	})
}

// trainingJob returns a Job with the given fields in its spec and its Pod spec.
func trainingJob(labels, spec, pod map[string]any) map[string]any {
	podSpec := map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "main", "image": "example.com/main:1"}}}
	maps.Copy(podSpec, pod)
	jobSpec := map[string]any{"template": map[string]any{"spec": podSpec}}
	maps.Copy(jobSpec, spec)
	return map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"generateName": "train-", "labels": labels}, "spec": jobSpec,
	}
}
