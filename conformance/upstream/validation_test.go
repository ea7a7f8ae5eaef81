package upstream

import (
	"errors"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/batch"
	apiv1 "k8s.io/kubernetes/pkg/apis/batch/v1"
	"k8s.io/kubernetes/pkg/apis/batch/validation"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/testing/generators"
)

// TestWellTypedPoliciesAreLegal tests that the API server accepts well-typed policies.
func TestWellTypedPoliciesAreLegal(t *testing.T) {
	g := generators.NewPairs(1, false)
	for range 3000 {
		p := g.Policy()
		if errs := upstreamErrors(t, p); len(errs) > 0 {
			t.Fatalf("%v\n%v", errs, p)
		}
		if _, err := compiler.NewPolicy(p); err != nil {
			t.Fatalf("%v\n%v", err, p)
		}
	}
}

// TestNewPolicyRefusesAsTheAPIServer tests that NewPolicy rejects the same policies as the API server, with the same
// messages in the same order.
func TestNewPolicyRefusesAsTheAPIServer(t *testing.T) {
	g := generators.NewPairs(2, true)
	refused := 0
	for range 3000 {
		p := g.Policy()
		if p == nil {
			continue
		}
		want := upstreamErrors(t, p)
		var got []string
		var refusal *compiler.PolicyError
		if _, err := compiler.NewPolicy(p); errors.As(err, &refusal) {
			refused++
			got = messages(refusal.Errors)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-API server +NewPolicy)\n%s\n%v", diff, p)
		}
	}
	if refused < 300 {
		t.Errorf("%d policies were refused, want 300 at least", refused)
	}
}

// upstreamErrors returns the API server's errors for a policy by itself: in a Job that has limits per index and all
// containers that the policy names.
func upstreamErrors(t *testing.T, p *batchv1.PodFailurePolicy) []string {
	t.Helper()
	job := &batchv1.Job{}
	job.Name, job.Namespace = "j", "default"
	job.Spec.PodFailurePolicy = p.DeepCopy()
	job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	job.Spec.Completions, job.Spec.BackoffLimitPerIndex = new(int32(3)), new(int32(1))
	job.Spec.Selector = &metav1.LabelSelector{}
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	for _, name := range containerNames(p) {
		job.Spec.Template.Spec.Containers = append(job.Spec.Template.Spec.Containers, corev1.Container{Name: name})
	}
	apiv1.SetObjectDefaults_Job(job)
	internal := &batch.Job{}
	if err := apiv1.Convert_v1_Job_To_batch_Job(job, internal, nil); err != nil {
		t.Fatal(err)
	}
	errs := validation.ValidateJobSpec(&internal.Spec, nil, field.NewPath("spec"), validation.JobValidationOptions{}.PodValidationOptions)
	return messages(slices.DeleteFunc(errs, func(e *field.Error) bool {
		return !strings.HasPrefix(e.Field, "spec.podFailurePolicy")
	}))
}

func containerNames(p *batchv1.PodFailurePolicy) []string {
	names := []string{"main"}
	for _, r := range p.Rules {
		if r.OnExitCodes != nil && r.OnExitCodes.ContainerName != nil && !slices.Contains(names, *r.OnExitCodes.ContainerName) {
			names = append(names, *r.OnExitCodes.ContainerName)
		}
	}
	return names
}

func messages(errs field.ErrorList) []string {
	var texts []string
	for _, e := range errs {
		texts = append(texts, strings.TrimPrefix(e.Error(), "spec.podFailurePolicy."))
	}
	return texts
}
