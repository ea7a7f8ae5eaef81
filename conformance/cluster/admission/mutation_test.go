//go:build cluster

package admission

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// platform has a default for everything, each different from the API server's own.
const platform = `
backoffLimit: 3
backoffLimitPerIndex: 1
maxFailedIndexes: 5
activeDeadlineSeconds: 3600
ttlSecondsAfterFinished: 600
managedBy: example.com/controller
podReplacementPolicy: Failed
podFailurePolicy:
  rules:
  - action: Ignore
    onPodConditions: [{type: DisruptionTarget}]
  - action: FailJob
    onExitCodes: {containerName: main, operator: In, values: [42]}
  - action: FailIndex
    onExitCodes: {operator: In, values: [43]}
`

// mutated is a namespace in which the platform's defaults are in force.
type mutated struct{ *server }

func startMutated(t *testing.T, defaults string) *mutated {
	t.Helper()
	m := &mutated{newServer(t)}
	var spec batchv1.JobSpec
	if err := yaml.UnmarshalStrict([]byte(defaults), &spec); err != nil {
		t.Fatal(err)
	}
	if errs := admission.CheckDefaults(&spec); len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, read := range []func() (kind.Kind, error){kind.Job, kind.CronJob} {
		k, err := read()
		if err != nil {
			t.Fatal(err)
		}
		m.install(t, &spec, k)
	}
	m.waitUntilActive(t)
	return m
}

// install installs the policy for a kind, only in the namespace.
func (m *mutated) install(t *testing.T, defaults *batchv1.JobSpec, k kind.Kind) {
	t.Helper()
	mutation, err := admission.NewMutation(defaults, admission.Options{
		Kubernetes: m.Cluster.Version,
		Name:       m.Namespace,
		Target:     admission.Target{Kind: k},
		Failure:    admissionregistrationv1.Ignore,
		Namespaces: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: m.Namespace}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m.apply(t, mutation.Policy, mutation.Binding)
}

// waitUntilActive creates objects with dry-run until they get the defaults.
func (m *mutated) waitUntilActive(t *testing.T) {
	t.Helper()
	job := m.job(t, plain)
	cron := &batchv1.CronJob{ObjectMeta: job.ObjectMeta, Spec: batchv1.CronJobSpec{Schedule: "@daily", JobTemplate: batchv1.JobTemplateSpec{Spec: job.Spec}}}
	dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	testcluster.Eventually(t, "the policies are in force", func(ctx context.Context) (bool, error) {
		j, err := m.Client.BatchV1().Jobs(m.Namespace).Create(ctx, job, dryRun)
		if err != nil {
			return false, err
		}
		c, err := m.Client.BatchV1().CronJobs(m.Namespace).Create(ctx, cron, dryRun)
		if err != nil {
			return false, err
		}
		return j.Spec.TTLSecondsAfterFinished != nil && c.Spec.JobTemplate.Spec.TTLSecondsAfterFinished != nil, nil
	})
}

const (
	plain = `
template: {spec: {restartPolicy: Never, containers: [{name: main, image: app}]}}`
	indexed = plain + `
completionMode: Indexed
completions: 10
parallelism: 2`
)

func (m *mutated) job(t *testing.T, spec string) *batchv1.Job {
	t.Helper()
	job := &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}}
	job.Namespace, job.GenerateName = m.Namespace, "job-"
	if err := yaml.UnmarshalStrict([]byte(spec), &job.Spec); err != nil {
		t.Fatal(err)
	}
	return job
}

// defaulted returns the fields of a spec that can have defaults.
func defaulted(s batchv1.JobSpec) batchv1.JobSpec {
	return batchv1.JobSpec{
		PodFailurePolicy: s.PodFailurePolicy, PodReplacementPolicy: s.PodReplacementPolicy, ManagedBy: s.ManagedBy,
		BackoffLimit: s.BackoffLimit, BackoffLimitPerIndex: s.BackoffLimitPerIndex, MaxFailedIndexes: s.MaxFailedIndexes,
		ActiveDeadlineSeconds: s.ActiveDeadlineSeconds, TTLSecondsAfterFinished: s.TTLSecondsAfterFinished,
	}
}

// TestMutation tests that Jobs get the same defaults as from the reference in compiler/admission, which is tested against
// the API server's own packages with all kinds of Jobs.
func TestMutation(t *testing.T) {
	t.Parallel()
	m := startMutated(t, platform)
	const (
		given = `
activeDeadlineSeconds: 3600
ttlSecondsAfterFinished: 600
managedBy: example.com/controller
podReplacementPolicy: Failed`
		policy = `
podFailurePolicy:
  rules:
  - action: Ignore
    onPodConditions: [{type: DisruptionTarget, status: "True"}]
  - action: FailJob
    onExitCodes: {containerName: main, operator: In, values: [42]}`
		failIndex = `
  - action: FailIndex
    onExitCodes: {operator: In, values: [43]}`
		own = `
backoffLimit: 7
activeDeadlineSeconds: 5
ttlSecondsAfterFinished: 6
managedBy: example.com/own
podReplacementPolicy: Failed
podFailurePolicy:
  rules:
  - {action: Count, onExitCodes: {operator: In, values: [1]}}`
	)
	for name, c := range map[string]struct{ job, want string }{
		"nothing of its own": {plain, given + policy + "\nbackoffLimit: 3"},
		"all of its own":     {plain + own, own},
		"restarts in place":  {strings.Replace(plain, "Never", "OnFailure", 1), given + "\nbackoffLimit: 3"},
		"indexed":            {indexed, given + policy + failIndex + "\nbackoffLimit: 3\nbackoffLimitPerIndex: 1\nmaxFailedIndexes: 5"},
		"indexed, too many pods": {
			strings.NewReplacer("10", "100001", "parallelism: 2", "parallelism: 10001").Replace(indexed),
			given + policy + "\nbackoffLimit: 3",
		},
		"limit per index of its own": {
			indexed + "\nbackoffLimitPerIndex: 4",
			given + policy + failIndex + "\nbackoffLimit: 2147483647\nbackoffLimitPerIndex: 4\nmaxFailedIndexes: 5",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			created, err := m.Client.BatchV1().Jobs(m.Namespace).Create(t.Context(), m.job(t, c.job), metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(m.job(t, c.want).Spec, defaulted(m.get(t, created.Name).Spec)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestMutationRoundTrip tests that the policy recognizes the fields in the manifest of a client-side or server-side
// kubectl apply, even those with the API server's default. Applying the manifest again changes nothing and causes no
// conflict.
func TestMutationRoundTrip(t *testing.T) {
	t.Parallel()
	m := startMutated(t, platform)
	for side, flags := range map[string][]string{"client-side": nil, "server-side": {"--server-side"}} {
		for wrote, c := range map[string]struct {
			spec        string
			limit       int32
			replacement batchv1.PodReplacementPolicy
		}{
			"nothing":  {plain, 3, batchv1.Failed},
			"defaults": {plain + "\nbackoffLimit: 6\npodReplacementPolicy: TerminatingOrFailed", 6, batchv1.TerminatingOrFailed},
		} {
			t.Run(side+" "+wrote, func(t *testing.T) {
				t.Parallel()
				name := side + "-" + wrote
				manifest := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name + "}\nspec:" + strings.ReplaceAll(c.spec, "\n", "\n  ") + "\n"
				kubectl := func(verb string) string {
					t.Helper()
					return m.Kubectl(t, []byte(manifest), append([]string{verb, "--namespace", m.Namespace, "-f", "-"}, flags...)...)
				}
				kubectl("apply")
				first := m.get(t, name).Spec
				if *first.BackoffLimit != c.limit || *first.PodReplacementPolicy != c.replacement {
					t.Errorf("backoffLimit %d and podReplacementPolicy %s", *first.BackoffLimit, *first.PodReplacementPolicy)
				}
				if given := first.PodFailurePolicy != nil; given != (c.replacement == batchv1.Failed) {
					t.Errorf("podFailurePolicy %v beside podReplacementPolicy %s", first.PodFailurePolicy, c.replacement)
				}
				kubectl("apply")
				if diff := cmp.Diff(first, m.get(t, name).Spec); diff != "" {
					t.Errorf("applied again (-first +second):\n%s", diff)
				}
				if out := kubectl("diff"); out != "" {
					t.Errorf("a difference is left:\n%s", out)
				}
			})
		}
	}
}

// TestMutationOnCreateOnly tests that only new Jobs get defaults: an update may remove a default, and gets it back only
// where the field is immutable.
func TestMutationOnCreateOnly(t *testing.T) {
	t.Parallel()
	m := startMutated(t, platform)
	jobs := m.Client.BatchV1().Jobs(m.Namespace)
	job := m.job(t, plain)
	job.Name = "updated"
	if _, err := jobs.Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	patch := func(text string) (*batchv1.Job, error) {
		return jobs.Patch(t.Context(), job.Name, types.MergePatchType, []byte(text), metav1.PatchOptions{})
	}
	updated, err := patch(`{"spec":{"backoffLimit":6,"ttlSecondsAfterFinished":null}}`)
	if err != nil {
		t.Fatal(err)
	}
	if *updated.Spec.BackoffLimit != 6 || updated.Spec.TTLSecondsAfterFinished != nil {
		t.Errorf("got backoffLimit %d and ttlSecondsAfterFinished %v", *updated.Spec.BackoffLimit, updated.Spec.TTLSecondsAfterFinished)
	}
	for _, field := range []string{"managedBy", "podFailurePolicy"} {
		if _, err := patch(`{"spec":{"` + field + `":null}}`); !apierrors.IsInvalid(err) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func (m *mutated) get(t *testing.T, name string) *batchv1.Job {
	t.Helper()
	job, err := m.Client.BatchV1().Jobs(m.Namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return job
}
