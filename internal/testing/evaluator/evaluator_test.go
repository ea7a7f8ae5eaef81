package evaluator

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// mustKind is for the functions that return a kind or an error.
func mustKind(t testing.TB, of func() (kind.Kind, error)) kind.Kind {
	t.Helper()
	k, err := of()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// readPolicy reads a file of testdata/policy, after replacements of its text.
func readPolicy(t testing.TB, file string, replacements ...string) *admissionregistrationv1.ValidatingAdmissionPolicy {
	t.Helper()
	text, err := os.ReadFile("../../../compiler/admission/apiserver/testdata/policy/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(replacements); i += 2 {
		if !strings.Contains(string(text), replacements[i]) {
			t.Fatalf("%s does not hold %q", file, replacements[i])
		}
	}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
	if err := yaml.UnmarshalStrict([]byte(strings.NewReplacer(replacements...).Replace(string(text))), policy); err != nil {
		t.Fatal(err)
	}
	return policy
}

func newEvaluator(t testing.TB, file string, replacements ...string) *Evaluator {
	t.Helper()
	return New(readPolicy(t, file, replacements...))
}

// jobObject reads JSON as the API server does.
func jobObject(t testing.TB, metadata, spec string) runtime.Object {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON([]byte(`{"apiVersion": "batch/v1", "kind": "Job", "metadata": ` + metadata + `, "spec": ` + spec + `}`)); err != nil {
		t.Fatal(err)
	}
	return o
}

// decision is what a policy says of a request that it looks at.
type decision struct {
	looks       bool
	failures    []failure
	annotations map[string]string
}

// failure is a validation that does not hold, or could not be evaluated.
type failure struct {
	validation int
	message    string
	reason     metav1.StatusReason
	errored    bool
	denies     bool
}

func decide(t testing.TB, e *Evaluator, r apiserver.Review) decision {
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

const (
	goodSpec = `{"backoffLimit": 6, "template": {"spec": {"restartPolicy": "Never"}}}`
	badSpec  = `{"backoffLimit": 11, "template": {"spec": {"restartPolicy": "OnFailure"}},
		"podFailurePolicy": {"rules": [{"action": "Count"}, {"action": "Ignore"}]}}`
)

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
		return apiserver.Review{Kind: mustKind(t, kind.Job), Operation: admission.Create, Object: jobObject(t, metadata, spec)}
	}
	deletion := create(`{}`, badSpec)
	deletion.Operation, deletion.Object, deletion.OldObject = admission.Delete, nil, deletion.Object
	for name, test := range map[string]struct {
		review apiserver.Review
		want   decision
	}{
		"good":          {create(`{}`, goodSpec), decision{looks: true}},
		"bad":           {create(`{}`, badSpec), bad},
		"exempt":        {create(`{"labels": {"exempt": ""}}`, badSpec), decision{}},
		"deletion":      {deletion, decision{}},
		"typed":         {typedJob(t, create(`{}`, badSpec)), bad},
		"floats":        {floatJob(t, create(`{}`, badSpec)), bad},
		"null is unset": {create(`{"labels": null}`, strings.Replace(goodSpec, "{", `{"podFailurePolicy": null, `, 1)), decision{looks: true}},
	} {
		if diff := cmp.Diff(test.want, decide(t, newEvaluator(t, "job.yaml"), test.review), inside); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// typedJob returns the review with a Job of Go's type, which says neither apiVersion nor
// kind.
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

// floatJob returns the review with an object that encoding/json has read.
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

// Expressions see what the API server shows them: apiVersion and kind, structs that are
// empty, whole numbers; and no fields that are null or unknown.
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
		r := apiserver.Review{Kind: mustKind(t, kind.Job), Operation: admission.Create, Object: jobObject(t, `{"name": "a", "namespace": "b"}`,
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
		"no object":  {apiserver.Review{Kind: mustKind(t, kind.Job)}, "review: neither an object nor an old object"},
		"wrong type": {apiserver.Review{Kind: mustKind(t, kind.Job), Object: jobObject(t, `{}`, `{"backoffLimit": "many"}`)}, "review: object: "},
	} {
		if _, err := newEvaluator(t, "job.yaml").Evaluate(t.Context(), test.review); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want %s", name, err, test.want)
		}
	}
}

// The measured sum is what the API server's validator takes from the budget: one less
// is too little for it.
func TestTheBudgetIsWhatTheMeterMeasures(t *testing.T) {
	policy := readPolicy(t, "job.yaml")
	meter, err := apiserver.NewMeter(policy)
	if err != nil {
		t.Fatal(err)
	}
	e := New(policy)
	r := apiserver.Review{Kind: mustKind(t, kind.Job), Operation: admission.Create, Object: jobObject(t, `{}`, badSpec)}
	cost, err := meter.Cost(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for budget, want := range map[uint64]bool{cost: true, cost - 1: false} {
		result, err := e.evaluate(t.Context(), r, int64(budget))
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
