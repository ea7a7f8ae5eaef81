package admission_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/internal/testing/generators"
	"github.com/podverdict/podverdict/runtime/rego"
)

// TestGivenDefaultsAreLegal checks that the API server accepts a Job with the defaults if it accepts the Job without
// them, that a Job to which no default applies is not changed, that the mutation is idempotent, and that the result
// equals the reference implementation's.
func TestGivenDefaultsAreLegal(t *testing.T) {
	t.Parallel()
	validator, err := rego.New(t.Context(), rego.Options{})
	if err != nil {
		t.Fatal(err)
	}
	policies, jobs := 15, 60
	if testing.Short() {
		policies, jobs = 1, 20
	}
	c := mutationComparison{validator: validator, random: rand.New(rand.NewPCG(1, 2)), jobs: generators.NewJobs(7, false)}
	for range policies {
		d := c.defaults(t)
		for _, k := range kinds(t) {
			m, err := admission.NewMutation(d, mutationOptions(k))
			if err != nil {
				t.Fatal(err)
			}
			server := newMutatingServer(t, k, m)
			for range jobs {
				c.compare(t, server, d)
			}
		}
	}
	if c.legal < policies*jobs || c.changed < c.legal/4 || c.kept < c.legal/20 && !testing.Short() {
		t.Errorf("%d Jobs were legal, %d of these were given something and %d nothing", c.legal, c.changed, c.kept)
	}
}

func kinds(t testing.TB) []kind.Kind {
	t.Helper()
	job, err := kind.Job()
	if err != nil {
		t.Fatal(err)
	}
	cronJob, err := kind.CronJob()
	if err != nil {
		t.Fatal(err)
	}
	return []kind.Kind{job, cronJob}
}

type mutationComparison struct {
	validator            *rego.Validator
	random               *rand.Rand
	jobs                 *generators.Jobs
	legal, changed, kept int
}

// defaults draws some fields of a Job spec.
func (c *mutationComparison) defaults(t *testing.T) *batchv1.JobSpec {
	t.Helper()
	for {
		s := sent(t, c.jobs.Job()).Spec
		if s.PodFailurePolicy != nil && len(s.PodFailurePolicy.Rules) == 0 {
			continue
		}
		if c.random.IntN(2) == 0 {
			s.BackoffLimitPerIndex = pointer(c, 0, 1, 2, 10)
		}
		if c.random.IntN(2) == 0 {
			s.MaxFailedIndexes = pointer(c, 0, 1, 5, 10, 9_999, 10_000, 10_001, 100_000)
		}
		if len(admission.CheckDefaults(&s)) == 0 {
			return &s
		}
	}
}

func text(t testing.TB, value any) string {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// sent returns the Job as it arrives at the API server.
func sent(t testing.TB, j *batchv1.Job) *batchv1.Job {
	t.Helper()
	arrived := &batchv1.Job{}
	if err := json.Unmarshal([]byte(text(t, j)), arrived); err != nil {
		t.Fatal(err)
	}
	return arrived
}

func pointer(c *mutationComparison, values ...int32) *int32 {
	return &values[c.random.IntN(len(values))]
}

// job draws a Job. Some Jobs have sizes around the API server's limits, and some have some fields of their own.
func (c *mutationComparison) job() *batchv1.Job {
	j := c.jobs.Job()
	s := &j.Spec
	if c.random.IntN(4) == 0 {
		s.CompletionMode, s.SuccessPolicy = new(batchv1.IndexedCompletion), nil
		s.Completions = pointer(c, 0, 1, 5, 10_000, 99_999, 100_000, 100_001, 200_000)
		s.Parallelism = pointer(c, 0, 1, 9_999, 10_000, 10_001, 100_000)
		if c.random.IntN(2) == 0 {
			s.BackoffLimitPerIndex, s.MaxFailedIndexes = nil, nil
		}
	}
	if c.random.IntN(4) == 0 {
		s.BackoffLimit = pointer(c, 5, 6, 7, 1<<31-1)
	}
	return j
}

func (c *mutationComparison) compare(t *testing.T, server *mutatingServer, d *batchv1.JobSpec) {
	t.Helper()
	submitted := sent(t, c.job())
	isJob := server.kind.Kind == "Job"
	want := submitted.DeepCopy()
	giveDefaults(d, &want.Spec, isJob, false)
	before := submitted.DeepCopy()
	giveDefaults(&batchv1.JobSpec{}, &before.Spec, isJob, false)
	if !c.isLegal(t, before) {
		server.admit(t, wrapped(before, isJob)) // the API server still rejects it
		return
	}
	c.legal++
	admitted, matched := server.admit(t, wrapped(before, isJob))
	got := unwrapped(t, admitted)
	if diff := cmp.Diff(want.Spec, got.Spec); diff != "" {
		t.Fatalf("%s\ngiven to %s\n(-reference +policy):\n%s", text(t, d), text(t, submitted.Spec), diff)
	}
	if diff := cmp.Diff(before.Spec, got.Spec); diff == "" {
		c.kept++
	} else {
		c.changed++
		if !matched {
			t.Fatal("changed without a match")
		}
	}
	if !c.isLegal(t, got) {
		t.Fatalf("%s\ngiven to %s\nmakes it illegal", text(t, d), text(t, submitted.Spec))
	}
	again, _ := server.admit(t, admitted)
	if diff := cmp.Diff(admitted, again); diff != "" {
		t.Fatalf("the second time changes more:\n%s", diff)
	}
}

func (c *mutationComparison) isLegal(t *testing.T, j *batchv1.Job) bool {
	t.Helper()
	found, err := c.validator.ValidateJob(t.Context(), j, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Severity == "error" {
			return false
		}
	}
	return true
}

// wrapped returns a copy of the Job, or a CronJob with its spec.
func wrapped(j *batchv1.Job, isJob bool) runtime.Object {
	if isJob {
		return j.DeepCopy()
	}
	return &batchv1.CronJob{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "CronJob"},
		ObjectMeta: j.ObjectMeta,
		Spec:       batchv1.CronJobSpec{Schedule: "@daily", JobTemplate: batchv1.JobTemplateSpec{Spec: *j.Spec.DeepCopy()}},
	}
}

func unwrapped(t *testing.T, object runtime.Object) *batchv1.Job {
	t.Helper()
	switch o := object.(type) {
	case *batchv1.Job:
		return o
	case *batchv1.CronJob:
		return &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: o.ObjectMeta, Spec: o.Spec.JobTemplate.Spec}
	}
	t.Fatalf("%T", object)
	return nil
}
