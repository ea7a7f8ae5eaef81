package conformance_test

import (
	"errors"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/conformance/vectors"
	"github.com/podverdict/podverdict/internal/testing/evaluator"
	"github.com/podverdict/podverdict/internal/testing/generators"
	"github.com/podverdict/podverdict/runtime/rego"
)

var (
	constrainedJobs = flag.Int("constrained-jobs", 400, "compare the constraints in CEL and in Rego on that many Jobs, each embedded too, and as many updates")
	leastBroken     = flag.Int("least-broken", 3, "each constraint must be broken by that many of them")
)

// TestConstraintsInCEL checks that the constraints have the same findings, in the same words, in CEL as evaluated by the API
// server and in Rego.
func TestConstraintsInCEL(t *testing.T) {
	c := newConstraintsInCEL(t)
	t.Run("generated", c.testGenerated)
	t.Run("vectors", c.testVectors)
}

// testGenerated compares findings for Jobs with the API's defaults, for their updates, for CronJobs, and for Jobs without
// defaults in other objects.
func (c constraintsInCEL) testGenerated(t *testing.T) {
	found := map[string]int{}
	generator := generators.NewJobs(11, true)
	for range slice(*constrainedJobs) {
		job := generator.Job()
		c.compare(t, c.job, reviewOf(t, "CREATE", withDefaults(job), nil), found)
		c.compareEmbedded(t, job, found)
		c.compare(t, c.cronJob, reviewOf(t, "CREATE", generator.CronJob(), nil), found)
		job, old := generator.Update()
		job, old = withDefaults(job), withDefaults(old)
		if !apiequality.Semantic.DeepEqual(job.Spec, old.Spec) { // otherwise no policy matches it
			c.compare(t, c.job, reviewOf(t, "UPDATE", job, old), found)
		}
	}
	catalogue, err := admission.Constraints()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range catalogue.Rules {
		if found[r.ID] < *leastBroken && !testing.Short() {
			t.Errorf("%s was broken %d times in %d Jobs", r.ID, found[r.ID], *constrainedJobs)
		}
	}
}

// testVectors checks that every vector has its expected findings, except those that an update does not newly introduce.
func (c constraintsInCEL) testVectors(t *testing.T) {
	for _, v := range loaded(t, vectors.Constraints) {
		t.Run(v.Name, func(t *testing.T) {
			want := map[string][]string{}
			for _, f := range c.newFindings(t, v.Submission, v.Want) {
				want[f.ID] = append(want[f.ID], f.Message)
			}
			p, r := c.vector(t, v)
			if p.evaluator == nil {
				t.Skip("go test -short compiles the policy of Jobs alone")
			}
			r.review.Kind = p.kind
			if r.submission.OldObject != nil && apiequality.Semantic.DeepEqual(specOf(r.review.Object), specOf(r.review.OldObject)) {
				if len(want) > 0 {
					t.Errorf("no policy looks at the object, but %v is wanted", want)
				}
				return
			}
			c.compareMessages(t, want, p.said(t, r.review), r)
		})
	}
}

// vector returns the policy for a vector, and its request.
func (c constraintsInCEL) vector(t *testing.T, v vectors.JobVector) (constraintPolicy, constraintReview) {
	t.Helper()
	operation := "CREATE"
	if v.OldObject != nil {
		operation = "UPDATE"
	}
	if v.Object["kind"] == "CronJob" {
		return c.cronJob, reviewOf(t, operation, fromDocument[batchv1.CronJob](t, v.Object), fromDocument[batchv1.CronJob](t, v.OldObject))
	}
	job, old := fromDocument[batchv1.Job](t, v.Object), fromDocument[batchv1.Job](t, v.OldObject)
	return c.job, reviewOf(t, operation, withDefaults(job), withDefaults(old))
}

func fromDocument[T any](t *testing.T, document map[string]any) *T {
	t.Helper()
	object := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(document, object); err != nil {
		t.Fatal(err)
	}
	return object
}

// constraintsInCEL holds the constraints in Rego, and as policies for three kinds. In go test -short it has only the
// constraints on podFailurePolicy, for Jobs.
type constraintsInCEL struct {
	bundle                 regoBundle
	job, cronJob, workflow constraintPolicy
}

type constraintPolicy struct {
	kind      kind.Kind
	evaluator *evaluator.Evaluator
	rules     []string // rule ids, by validation
}

func newConstraintsInCEL(t *testing.T) constraintsInCEL {
	t.Helper()
	definition, err := os.ReadFile("cluster/admission/testdata/workflow-crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(definition, crd); err != nil {
		t.Fatal(err)
	}
	workflows, wrong := kind.ServedKinds(crd)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	job, errJob := kind.Job()
	cronJob, errCronJob := kind.CronJob()
	if err := errors.Join(errJob, errCronJob); err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		return constraintsInCEL{bundle: newRegoBundle(t), job: newConstraintPolicy(t, job, "spec")}
	}
	return constraintsInCEL{
		bundle:   newRegoBundle(t),
		job:      newConstraintPolicy(t, job, "spec"),
		cronJob:  newConstraintPolicy(t, cronJob, "spec.jobTemplate.spec"),
		workflow: newConstraintPolicy(t, workflows[0], "spec.groups[*].template.spec"),
	}
}

func newConstraintPolicy(t *testing.T, k kind.Kind, path string) constraintPolicy {
	t.Helper()
	target, err := admission.NewTarget(k, path)
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := admission.Constraints()
	if err != nil {
		t.Fatal(err)
	}
	pattern := "*"
	if testing.Short() {
		pattern = "F*"
	}
	selection, err := catalogue.Select([]string{pattern}, nil)
	if err != nil {
		t.Fatal(err)
	}
	policy, server := onePolicy(t, selection, target)
	return constraintPolicy{k, server, policy.Rules}
}

// constraintReview is a request, and the corresponding input for Rego.
type constraintReview struct {
	review     apiserver.Review
	submission vectors.Submission
	spec       batchv1.JobSpec
}

func reviewOf(t *testing.T, operation string, object, old runtime.Object) constraintReview {
	t.Helper()
	r := constraintReview{submission: vectors.Submission{Object: documentOf(t, object)}}
	r.review.Operation, r.review.Object = k8sadmission.Operation(operation), object
	switch o := object.(type) {
	case *batchv1.Job:
		r.spec = o.Spec
	case *batchv1.CronJob:
		r.spec = o.Spec.JobTemplate.Spec
	}
	if operation == "UPDATE" {
		r.review.OldObject, r.submission.OldObject = old, documentOf(t, old)
	}
	return r
}

// specOf returns the spec of a Job or a CronJob.
func specOf(object runtime.Object) any {
	if cronJob, ok := object.(*batchv1.CronJob); ok {
		return cronJob.Spec
	}
	return object.(*batchv1.Job).Spec
}

func documentOf(t *testing.T, object runtime.Object) map[string]any {
	t.Helper()
	document, err := rego.Object(object)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// compare compares Rego and CEL, and counts in found the requests that break each constraint. It does nothing for a kind
// whose policy is not compiled.
func (c constraintsInCEL) compare(t *testing.T, p constraintPolicy, r constraintReview, found map[string]int) {
	t.Helper()
	if p.evaluator == nil {
		return
	}
	want := c.inRego(t, r, found)
	r.review.Kind = p.kind
	c.compareMessages(t, want, p.said(t, r.review), r)
}

// compareEmbedded evaluates the Job in a Workflow in CEL, without defaults and without the empty members that the Job's types
// serialize. Its name differs from the Workflow's.
func (c constraintsInCEL) compareEmbedded(t *testing.T, job *batchv1.Job, found map[string]int) {
	t.Helper()
	if c.workflow.evaluator == nil {
		return
	}
	r := reviewOf(t, "CREATE", job, nil)
	want := map[string][]string{}
	for id, messages := range c.inRego(t, r, found) {
		for _, message := range messages {
			want[id] = append(want[id], "spec.groups[0].template."+message)
		}
	}
	delete(want, "CM3")
	group := map[string]any{"template": map[string]any{"spec": withoutEmpty(documentOf(t, job)["spec"])}}
	r.review.Kind, r.review.Object = c.workflow.kind, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Workflow", "metadata": map[string]any{"name": "w", "namespace": "default"},
		"spec": map[string]any{"groups": []any{group}},
	}}
	c.compareMessages(t, want, c.workflow.said(t, r.review), r)
}

func withoutEmpty(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			required := slices.Contains([]string{"action", "operator", "type", "status", "name"}, name)
			if member == nil || required && member == "" {
				delete(v, name)
				continue
			}
			v[name] = withoutEmpty(member)
		}
	case []any:
		for i := range v {
			v[i] = withoutEmpty(v[i])
		}
	}
	return value
}

// inRego returns the expected messages. For an update, it omits those that also apply to the old object.
func (c constraintsInCEL) inRego(t *testing.T, r constraintReview, found map[string]int) map[string][]string {
	t.Helper()
	messages := map[string][]string{}
	for _, f := range c.newFindings(t, r.submission, c.findings(t, r.submission)) {
		messages[f.ID] = append(messages[f.ID], f.Message)
	}
	for id := range messages {
		found[id]++
	}
	return messages
}

func (c constraintsInCEL) findings(t *testing.T, s vectors.Submission) []vectors.Finding {
	t.Helper()
	findings, err := c.bundle.findings(t.Context(), c.bundle.constraints, s)
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// newFindings returns the findings that the old object would not have as a new one.
func (c constraintsInCEL) newFindings(t *testing.T, s vectors.Submission, all []vectors.Finding) []vectors.Finding {
	t.Helper()
	if s.OldObject == nil {
		return all
	}
	old := map[string]bool{}
	for _, f := range c.findings(t, vectors.Submission{Object: s.OldObject}) {
		old[f.ID+f.Message] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(f vectors.Finding) bool { return old[f.ID+f.Message] })
}

// said returns the messages, by rule id.
func (p constraintPolicy) said(t *testing.T, r apiserver.Review) map[string][]string {
	t.Helper()
	result, err := p.evaluator.Evaluate(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Decisions) == 0 {
		t.Fatal("the policy does not look at the object")
	}
	messages := map[string][]string{}
	for i, d := range result.Decisions {
		if d.Evaluation == validating.EvalError {
			t.Fatalf("%s\n%s", d.Message, asJSON(t, r.Object))
		}
		if d.Evaluation == validating.EvalDeny {
			messages[p.rules[i]] = strings.Split(d.Message, "; ")
		}
	}
	return messages
}

func (c constraintsInCEL) compareMessages(t *testing.T, want, got map[string][]string, r constraintReview) {
	t.Helper()
	if testing.Short() {
		maps.DeleteFunc(want, func(id string, _ []string) bool { return !strings.HasPrefix(id, "F") })
	}
	for _, id := range beyondCost(r.spec) {
		delete(want, id)
		delete(got, id)
	}
	for id := range want {
		slices.Sort(want[id])
		slices.Sort(got[id])
		// If messages are too long, the API server only returns the rule's title, and indexes that are too long for a message
		// are omitted from it. In both cases it is enough that there is a message.
		if len(strings.Join(want[id], "; ")) > 5<<10 && len(got[id]) > 0 {
			got[id] = want[id]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("-Rego +CEL:\n%s\nobject: %s\nold object: %s", diff, asJSON(t, r.review.Object), asJSON(t, r.review.OldObject))
	}
}

// beyondCost returns the constraints for which the policy reports less than Rego because a full check would cost too much: S6
// and S9 for long texts if all indexes together have more than 80,000 characters, and F11 for unordered lists of exit codes
// if the sum of their squared lengths exceeds 600,000. F12 rejects those.
func beyondCost(s batchv1.JobSpec) []string {
	var ids []string
	characters, comparisons := 0, 0
	if s.SuccessPolicy != nil {
		for _, r := range s.SuccessPolicy.Rules {
			if r.SucceededIndexes != nil {
				characters += len(*r.SucceededIndexes)
			}
		}
	}
	if s.PodFailurePolicy != nil {
		for _, r := range s.PodFailurePolicy.Rules {
			if r.OnExitCodes != nil && !slices.IsSorted(r.OnExitCodes.Values) {
				comparisons += len(r.OnExitCodes.Values) * len(r.OnExitCodes.Values)
			}
		}
	}
	if characters > 80_000 {
		ids = append(ids, "S6", "S9")
	}
	if comparisons > 600_000 {
		ids = append(ids, "F11")
	}
	return ids
}
