package apiserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/internal/testing/evaluator"
)

func newEvaluator(t testing.TB, file string, replacements ...string) *evaluator.Evaluator {
	t.Helper()
	return evaluator.New(apiserver.ReadPolicy(t, file, replacements...))
}

// decision is a policy's result for a request.
type decision struct {
	looks       bool
	failures    []failure
	annotations map[string]string
}

// failure is a validation that is false or could not be evaluated.
type failure struct {
	validation int
	message    string
	reason     metav1.StatusReason
	errored    bool
	denies     bool
}

func decide(t testing.TB, e *evaluator.Evaluator, r apiserver.Review) decision {
	t.Helper()
	result, err := e.Evaluate(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	d := decision{looks: len(result.Decisions) > 0}
	for i, one := range result.Decisions {
		if one.Evaluation != validating.EvalAdmit {
			d.failures = append(d.failures, failure{i, one.Message, one.Reason, one.Evaluation == validating.EvalError, one.Action == validating.ActionDeny})
		}
	}
	for _, a := range result.AuditAnnotations {
		if a.Action == validating.AuditAnnotationActionPublish {
			d.annotations = map[string]string{a.Key: a.Value}
		}
	}
	return d
}

var inside = cmp.AllowUnexported(decision{}, failure{})

func TestEvaluateJobs(t *testing.T) {
	bad := decision{
		looks: true,
		failures: []failure{
			{validation: 0, message: "spec.backoffLimit must be at most 10, is 11", reason: "Invalid", denies: true},
			{validation: 1, message: "a rule counts what is counted anyway", reason: "Forbidden", denies: true},
			{validation: 2, message: `failed expression: object.spec.template.spec.restartPolicy == "Never"`, reason: "Invalid", denies: true},
		},
		annotations: map[string]string{"rules": "2"},
	}
	create := func(metadata, spec string) apiserver.Review {
		return apiserver.Review{Kind: apiserver.MustKind(t, kind.Job), Operation: admission.Create, Object: apiserver.JobObject(t, metadata, spec)}
	}
	deletion := create(`{}`, apiserver.BadSpec)
	deletion.Operation, deletion.Object, deletion.OldObject = admission.Delete, nil, deletion.Object
	for name, test := range map[string]struct {
		review apiserver.Review
		want   decision
	}{
		"good":          {create(`{}`, apiserver.GoodSpec), decision{looks: true}},
		"bad":           {create(`{}`, apiserver.BadSpec), bad},
		"exempt":        {create(`{"labels": {"exempt": ""}}`, apiserver.BadSpec), decision{}},
		"deletion":      {deletion, decision{}},
		"typed":         {typedJob(t, create(`{}`, apiserver.BadSpec)), bad},
		"floats":        {floatJob(t, create(`{}`, apiserver.BadSpec)), bad},
		"null is unset": {create(`{"labels": null}`, strings.Replace(apiserver.GoodSpec, "{", `{"podFailurePolicy": null, `, 1)), decision{looks: true}},
	} {
		if diff := cmp.Diff(test.want, decide(t, newEvaluator(t, "job.yaml"), test.review), inside); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// typedJob returns the review with a Job of the Go type, which has no apiVersion and no kind.
func typedJob(t testing.TB, r apiserver.Review) apiserver.Review {
	t.Helper()
	typed := &batchv1.Job{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(r.Object.(*unstructured.Unstructured).Object, typed); err != nil {
		t.Fatal(err)
	}
	typed.TypeMeta = metav1.TypeMeta{}
	r.Object = typed
	return r
}

// floatJob returns the review with an object decoded by encoding/json.
func floatJob(t testing.TB, r apiserver.Review) apiserver.Review {
	t.Helper()
	text, err := json.Marshal(r.Object)
	if err != nil {
		t.Fatal(err)
	}
	floats := &unstructured.Unstructured{}
	if err := json.Unmarshal(text, &floats.Object); err != nil {
		t.Fatal(err)
	}
	r.Object = floats
	return r
}

// TestEvaluateSeesJobsAsTheAPIServerDoes checks that expressions see the same fields as in the API
// server: apiVersion and kind, empty structs and whole numbers, but no null or unknown fields.
func TestEvaluateSeesJobsAsTheAPIServerDoes(t *testing.T) {
	for expression, want := range map[string]bool{
		`object.apiVersion == "batch/v1" && object.kind == "Job"`: true,
		`has(object.status)`:                              true,
		`has(object.spec.template.metadata)`:              true,
		`has(object.spec.podFailurePolicy)`:               false,
		`has(object.spec.selector)`:                       false,
		`has(object.spec.unheardOf)`:                      false,
		`type(object.spec.backoffLimit) == int`:           true,
		`has(object.metadata.creationTimestamp)`:          false,
		`oldObject == null`:                               true,
		`namespaceObject == null`:                         true,
		`request.operation == "CREATE"`:                   true,
		`request.resource.resource == "jobs"`:             true,
		`request.name == "a" && request.namespace == "b"`: true,
	} {
		e := newEvaluator(t, "single.yaml", "object.spec.backoffLimit <= 10", "'"+expression+"'")
		r := apiserver.Review{Kind: apiserver.MustKind(t, kind.Job), Operation: admission.Create, Object: apiserver.JobObject(t, `{"name": "a", "namespace": "b"}`,
			`{"backoffLimit": 6, "podFailurePolicy": null, "selector": null, "unheardOf": 1, "template": {}}`)}
		for name, r := range map[string]apiserver.Review{"unstructured": r, "typed": typedJob(t, r)} {
			d := decide(t, e, r)
			if got := len(d.failures) == 0; got != want || want == false && d.failures[0].errored {
				t.Errorf("%s of a Job, %s: got %t, want %t: %+v", expression, name, got, want, d)
			}
		}
	}
}

func TestReviewThatCannotBe(t *testing.T) {
	for name, test := range map[string]struct {
		review apiserver.Review
		want   string
	}{
		"no object":  {apiserver.Review{Kind: apiserver.MustKind(t, kind.Job)}, "review: neither an object nor an old object"},
		"wrong type": {apiserver.Review{Kind: apiserver.MustKind(t, kind.Job), Object: apiserver.JobObject(t, `{}`, `{"backoffLimit": "many"}`)}, "review: object: "},
	} {
		if _, err := newEvaluator(t, "job.yaml").Evaluate(t.Context(), test.review); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want %s", name, err, test.want)
		}
	}
}

// TestTheBudgetIsWhatTheMeterMeasures checks that the measured sum is the cost that the API
// server's validator charges: with one unit less, it exceeds the budget.
func TestTheBudgetIsWhatTheMeterMeasures(t *testing.T) {
	policy := apiserver.ReadPolicy(t, "job.yaml")
	meter, err := apiserver.NewMeter(policy)
	if err != nil {
		t.Fatal(err)
	}
	e := evaluator.New(policy)
	r := apiserver.Review{Kind: apiserver.MustKind(t, kind.Job), Operation: admission.Create, Object: apiserver.JobObject(t, `{}`, apiserver.BadSpec)}
	cost, err := meter.Cost(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for budget, want := range map[uint64]bool{cost: true, cost - 1: false} {
		result, err := e.EvaluateWithin(t.Context(), r, int64(budget))
		if err != nil {
			t.Fatal(err)
		}
		enough := true
		for _, d := range result.Decisions {
			enough = enough && !strings.Contains(d.Message, "out of cost budget") && !strings.Contains(d.Message, "failed messageExpression")
		}
		if enough != want {
			t.Errorf("a budget of %d is enough: %t, want %t; %+v", budget, enough, want, result.Decisions)
		}
	}
}
