package evaluator

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
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

// readCRD reads the one kind that a file of the test data of package kind serves.
func readCRD(t testing.TB, file string) kind.Kind {
	t.Helper()
	data, err := os.ReadFile("../../kind/testdata/crd/" + file)
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := kind.ReadCRD(data)
	if err != nil {
		t.Fatal(err)
	}
	return kinds[0]
}

// readPolicy reads a file of testdata/policy, after replacements of its text.
func readPolicy(t testing.TB, file string, replacements ...string) *admissionregistrationv1.ValidatingAdmissionPolicy {
	t.Helper()
	text, err := os.ReadFile("../testdata/policy/" + file)
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
	e, err := New(readPolicy(t, file, replacements...))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// object reads JSON as the API server does.
func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return o
}

func jobObject(t testing.TB, metadata, spec string) runtime.Object {
	t.Helper()
	return object(t, `{"apiVersion": "batch/v1", "kind": "Job", "metadata": `+metadata+`, "spec": `+spec+`}`)
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
		`oldObject == null && params == null`:             true,
		`namespaceObject == null`:                         true,
		`request.operation == "CREATE"`:                   true,
		`request.resource.resource == "jobs"`:             true,
		`request.name == "a" && request.namespace == "b"`: true,
	} {
		e := newEvaluator(t, "configmap.yaml", `params == null || object.spec.backoffLimit <= int(params.data["max"])`, "'"+expression+"'")
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

func TestEvaluateCronJobs(t *testing.T) {
	e := newEvaluator(t, "cronjob.yaml")
	cronJob := func(schedule, backoffLimit string) runtime.Object {
		return object(t, `{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"namespace": "jobs"},
			"spec": {"schedule": "`+schedule+`", "jobTemplate": {"spec": {"backoffLimit": `+backoffLimit+`}}}}`)
	}
	ours := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "jobs", Labels: map[string]string{"team": "batch"}}}
	theirs := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "jobs", Labels: map[string]string{"team": "web"}}}
	update := apiserver.Review{
		Kind: mustKind(t, kind.CronJob), Operation: admission.Update, Namespace: ours,
		Object: cronJob("@daily", "11"), OldObject: cronJob("@hourly", "11"),
	}
	want := decision{looks: true, failures: []failure{
		{validation: 0, message: "failed expression: variables.spec.?backoffLimit.orValue(6) <= 10", reason: "Invalid", denies: true},
		{validation: 1, message: "spec.schedule: was @hourly", reason: "Invalid", denies: true},
	}}
	if diff := cmp.Diff(want, decide(t, e, update), inside); diff != "" {
		t.Errorf("update (-want +got):\n%s", diff)
	}
	update.Namespace = theirs
	if diff := cmp.Diff(decision{}, decide(t, e, update), inside); diff != "" {
		t.Errorf("in another's namespace (-want +got):\n%s", diff)
	}
	update.Namespace = nil
	if _, err := e.Evaluate(t.Context(), update); err == nil || !strings.Contains(err.Error(), `namespace "jobs" is not given`) {
		t.Errorf("without the namespace: got error %v", err)
	}
}

func TestEvaluateWithParameters(t *testing.T) {
	e := newEvaluator(t, "configmap.yaml")
	r := apiserver.Review{Kind: mustKind(t, kind.Job), Operation: admission.Create, Object: jobObject(t, `{}`, badSpec)}
	configMap := func(data map[string]string) runtime.Object { return &corev1.ConfigMap{Data: data} }
	missing := "expression 'params == null || object.spec.backoffLimit <= int(params.data[\"max\"])' resulted in error: no such key: "
	for name, test := range map[string]struct {
		params runtime.Object
		want   []failure
	}{
		"none":    {nil, nil},
		"high":    {configMap(map[string]string{"max": "11"}), nil},
		"low":     {configMap(map[string]string{"max": "10"}), []failure{{message: "at most 10", reason: "Invalid", denies: true}}},
		"no data": {configMap(nil), []failure{{message: missing + "data", errored: true}}},
		"no key":  {configMap(map[string]string{"min": "1"}), []failure{{message: missing + "max", errored: true}}},
	} {
		r.Params = test.params
		if diff := cmp.Diff(decision{looks: true, failures: test.want}, decide(t, e, r), inside); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestEvaluateCustomResources(t *testing.T) {
	e := newEvaluator(t, "crd.yaml")
	r := apiserver.Review{
		Kind: readCRD(t, "taskset.yaml"), Operation: admission.Create,
		Object: object(t, `{"apiVersion": "example.com/v1", "kind": "TaskSet", "spec": {"note": "slow",
			"tasks": [{"template": {"spec": {"backoffLimit": 3}}}, {"template": {"spec": {}}}, {}]}}`),
	}
	for params, want := range map[string][]failure{
		``:           nil,
		`, "max": 6`: nil,
		`, "max": 5`: {{message: "at most 5, and slow", reason: "Invalid", denies: true}},
	} {
		r.Params = object(t, `{"apiVersion": "example.com/v1", "kind": "Limit"`+params+`}`)
		if diff := cmp.Diff(decision{looks: true, failures: want}, decide(t, e, r), inside); diff != "" {
			t.Errorf("%s (-want +got):\n%s", params, diff)
		}
	}
}

func TestReviewThatCannotBe(t *testing.T) {
	for name, test := range map[string]struct {
		review apiserver.Review
		want   string
	}{
		"no object":  {apiserver.Review{Kind: mustKind(t, kind.Job)}, "review: neither an object nor an old object"},
		"wrong type": {apiserver.Review{Kind: mustKind(t, kind.Job), Object: jobObject(t, `{}`, `{"backoffLimit": "many"}`)}, "review: object: json: cannot unmarshal string into Go struct field JobSpec.spec.backoffLimit of type int32"},
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
	e, err := New(policy)
	if err != nil {
		t.Fatal(err)
	}
	r := apiserver.Review{Kind: mustKind(t, kind.Job), Operation: admission.Create, Object: jobObject(t, `{}`, badSpec)}
	cost, err := meter.Cost(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for budget, want := range map[uint64]bool{cost.Used: true, cost.Used - 1: false} {
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

func BenchmarkEvaluate(b *testing.B) {
	e := newEvaluator(b, "job.yaml")
	r := apiserver.Review{Kind: mustKind(b, kind.Job), Operation: admission.Create, Object: jobObject(b, `{}`, badSpec)}
	for b.Loop() {
		if _, err := e.Evaluate(context.Background(), r); err != nil {
			b.Fatal(err)
		}
	}
}
