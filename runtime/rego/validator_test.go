package rego

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// standIn returns a bundle in which a Job may have as many completions as data allows, and must have a name.
func standIn() fstest.MapFS {
	return fstest.MapFS{
		".manifest": {Data: []byte(`{"revision":"1","roots":["podverdict"],"rego_version":1}`)},
		"podverdict/config/data.json": {Data: []byte(
			`{"max":3,"names":{"required":true}}`)},
		"job/job.rego": {Data: []byte(`package podverdict.job

# METADATA
# title: Completions are few
# custom:
#   id: C1
#   severity: error
findings contains finding if {
	input.spec.completions > data.podverdict.config.max
	finding := {"id": "C1", "field": "spec.completions", "type": "FieldValueInvalid", "detail": "too many", "msg": "spec.completions: Invalid value: too many"}
}

findings contains finding if {
	input.object.spec.completions != input.oldObject.spec.completions
	finding := {"id": "C2", "field": "spec.completions", "type": "FieldValueInvalid", "detail": "field is immutable", "msg": "spec.completions: Invalid value: 1: field is immutable"}
}
`)},
		"job/job_test.rego": {Data: []byte("no Rego at all")},
		"guardrails/guardrails.rego": {Data: []byte(`package podverdict.guardrails

findings contains finding if {
	data.podverdict.config.names.required
	not input.metadata.name
	finding := {"id": "G1", "field": "metadata.name", "type": "Guardrail", "detail": "must be set", "msg": "metadata.name: Guardrail G1: must be set", "severity": "warning"}
}

configuration_errors contains finding if {
	not is_number(data.podverdict.config.max)
	finding := {"id": "G0", "field": "data.podverdict.config.max", "type": "Configuration", "detail": "must be a number", "msg": ""}
}
`)},
	}
}

func validator(t testing.TB, folder fs.FS, o Options) (*Validator, error) {
	t.Helper()
	if folder != nil {
		b, err := Load(folder)
		if err != nil {
			return nil, err
		}
		o.Bundle = b
	}
	return New(t.Context(), o)
}

func job(completions int64, name string) map[string]any {
	return map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{"name": name}, "spec": map[string]any{"completions": completions},
	}
}

func TestValidate(t *testing.T) {
	v, err := validator(t, standIn(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	many := Finding{"C1", "spec.completions", "FieldValueInvalid", "too many", "spec.completions: Invalid value: too many", "error"}
	fixed := Finding{"C2", "spec.completions", "FieldValueInvalid", "field is immutable", "spec.completions: Invalid value: 1: field is immutable", "error"}
	for _, test := range []struct {
		name        string
		object, old map[string]any
		want        []Finding
	}{
		{"good", job(3, "a"), nil, nil},
		{"bad", job(4, "a"), nil, []Finding{many}},
		{"same", job(4, "a"), job(4, "a"), nil},
		{"changed", job(4, "a"), job(5, "a"), []Finding{fixed}},
	} {
		got, err := v.Validate(t.Context(), test.object, test.old)
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", test.name, err, diff)
		}
	}
	if got := many.Sentence(); got != "Invalid value: too many" {
		t.Errorf("sentence %q", got)
	}
}

// The validator returns warnings only on demand, and none from a bundle that has none.
func TestWarnings(t *testing.T) {
	odd := map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{
			"completionMode": "Indexed", "completions": int64(100_001), "parallelism": int64(10_001), "backoffLimit": int64(-1),
			"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never"}},
		},
	}
	for _, test := range []struct {
		name   string
		folder fs.FS
		o      Options
		want   map[string]string
	}{
		{"asked for", nil, Options{Warnings: true}, map[string]string{"P4": "error", "P8": "warning"}},
		{"not asked for", nil, Options{}, map[string]string{"P4": "error"}},
		{"of a bundle without", standIn(), Options{Warnings: true}, map[string]string{"C1": "error"}},
	} {
		v, err := validator(t, test.folder, test.o)
		if err != nil {
			t.Fatal(err)
		}
		found, err := v.Validate(t.Context(), odd, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, f := range found {
			got[f.ID] = f.Severity
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// A finding that the old object has too does not count against an update.
func TestGuardrailsOfUpdates(t *testing.T) {
	v, err := New(t.Context(), Options{Guardrails: true})
	if err != nil {
		t.Fatal(err)
	}
	wide := func(parallelism int64, suspend bool) map[string]any {
		return map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "train"}, "spec": map[string]any{
			"parallelism": parallelism, "suspend": suspend,
			"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never"}},
		}}
	}
	for name, test := range map[string]struct {
		object, oldObject map[string]any
		want              bool
	}{
		"created":        {wide(5000, false), nil, true},
		"something else": {wide(5000, true), wide(5000, false), false},
		"another value":  {wide(6000, false), wide(5000, false), true},
		"newly broken":   {wide(5000, false), wide(5, false), true},
		"mended":         {wide(5, false), wide(5000, false), false},
		"nothing at all": {wide(5000, false), wide(5000, false), false},
	} {
		found, err := v.Validate(t.Context(), test.object, test.oldObject)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(found, func(f Finding) bool { return f.ID == "G-PARALLELISM" }); got != test.want {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestGuardrailsAndData(t *testing.T) {
	config := func(values map[string]any) map[string]any {
		return map[string]any{"podverdict": map[string]any{"config": values}}
	}
	nameless := map[string]any{"spec": map[string]any{"completions": int64(5)}}
	for _, test := range []struct {
		name string
		data map[string]any
		want []string
	}{
		{"the bundle's data", nil, []string{"G1", "C1"}},
		{"a number", config(map[string]any{"max": 9}), []string{"G1"}},
		{"a part of an object", config(map[string]any{"names": map[string]any{"required": false}}), []string{"C1"}},
	} {
		v, err := validator(t, standIn(), Options{Data: test.data, Guardrails: true})
		if err != nil {
			t.Fatal(err)
		}
		found, err := v.Validate(t.Context(), nameless, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			got = append(got, f.ID)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
	for field, data := range map[string]map[string]any{
		"podverdict":              {"podverdict": "x"},
		"podverdict.config":       config(nil),
		"podverdict.config.names": config(map[string]any{"names": []any{"x"}}),
		"podverdict.config.max":   config(map[string]any{"max": "nine"}),
	} {
		if field == "podverdict.config" {
			data = map[string]any{"podverdict": map[string]any{"config": 5}}
		}
		_, err := validator(t, standIn(), Options{Data: data, Guardrails: true})
		if wrong, ok := errors.AsType[*DataError](err); !ok || wrong.Field != field || wrong.Message == "" {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestBadAnswers(t *testing.T) {
	for rule, want := range map[string]string{
		`findings := 5`:             "bundle: data.podverdict.job.findings does not answer with findings: json.Number is no list",
		`findings := ["x"]`:         "element 0 is no object",
		`findings := [{"id": "x"}]`: "element 0: field is no string, or missing",
		`findings := [] if input.x`: "bundle: data.podverdict.job.findings is undefined for this object",
		`findings contains "x" if every x in input.spec { f(x) == 1 }
f(_) := 1
f(_) := 2`: "bundle: job/job.rego:5: eval_conflict_error",
	} {
		folder := standIn()
		folder["job/job.rego"] = &fstest.MapFile{Data: []byte("package podverdict.job\n\n" + rule)}
		v, err := validator(t, folder, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Validate(t.Context(), job(1, "a"), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got  %v\nwant %s", rule, err, want)
		}
	}
}

// training returns a Job as people write them: indexed, with a policy of four rules and one fault.
func training() *batchv1.Job {
	completions, parallelism, perIndex := int32(100), int32(10), int32(2)
	exitCodes := func(action batchv1.PodFailurePolicyAction, codes ...int32) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes,
		}}
	}
	mode := batchv1.IndexedCompletion
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: "train", Namespace: "team-a"},
		Spec: batchv1.JobSpec{
			Completions: &completions, Parallelism: &parallelism, CompletionMode: &mode, BackoffLimitPerIndex: &perIndex,
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
				{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
					{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
				}},
				exitCodes(batchv1.PodFailurePolicyActionFailJob, 1, 2, 42),
				exitCodes(batchv1.PodFailurePolicyActionFailIndex, 43, 44),
				exitCodes("Explode", 137),
			}},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "example.com/train:1"}},
			}},
		},
	}
}

// The built-in rules answer in the API server's words, and say what they are.
func TestBuiltIn(t *testing.T) {
	v, err := New(t.Context(), Options{Guardrails: true})
	if err != nil {
		t.Fatal(err)
	}
	found, err := v.ValidateJob(t.Context(), training(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Finding{
		ID: "F4", Field: "spec.podFailurePolicy.rules[3].action", Type: "FieldValueNotSupported", Severity: "error",
		Detail:  `supported values: "Count", "FailIndex", "FailJob", "Ignore"`,
		Message: `spec.podFailurePolicy.rules[3].action: Unsupported value: "Explode": supported values: "Count", "FailIndex", "FailJob", "Ignore"`,
	}
	guardrails := 0
	for _, f := range found {
		if f.Type == "Guardrail" {
			guardrails++
		} else if diff := cmp.Diff(want, f); diff != "" {
			t.Error(diff)
		}
	}
	if guardrails == 0 || guardrails == len(found) {
		t.Errorf("%d guardrails in %d findings", guardrails, len(found))
	}
	completions := int32(99)
	changed := training()
	changed.Spec.Completions = &completions
	found, err = v.ValidateJob(t.Context(), changed, training())
	if err != nil || !slices.ContainsFunc(found, func(f Finding) bool { return f.Field == "spec.completions" && f.Severity == "error" }) {
		t.Errorf("update: %v, %v", found, err)
	}
}

func TestObject(t *testing.T) {
	var typed batchv1.Job
	typed.Kind, typed.Name = "Job", "a"
	object, err := Object(&typed)
	if err != nil || object["kind"] != "Job" || object["metadata"].(map[string]any)["name"] != "a" {
		t.Errorf("%v, %v", object, err)
	}
	if _, err := Object(5); err == nil {
		t.Error("no error")
	}
}

// endless is a bundle with a rule that takes longer than anybody waits.
const endless = `package podverdict.job

findings contains finding if {
	some i in numbers.range(1, 100000)
	some j in numbers.range(1, 100000)
	some k in numbers.range(1, 100000)
	i + j + k == 0
	finding := {}
}
`

func TestRulesThatDoNotEnd(t *testing.T) {
	folder := standIn()
	folder["job/job.rego"] = &fstest.MapFile{Data: []byte(endless)}
	v, err := validator(t, folder, Options{Limit: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Validate(t.Context(), job(1, "j"), nil)
	if want := "bundle: data.podverdict.job.findings gives no answer within 20ms, and was stopped"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Validate(ctx, job(1, "j"), nil); err == nil || strings.Contains(err.Error(), "no answer within") {
		t.Errorf("the caller's end is not the limit: %v", err)
	}
}

func TestDataThatNoRuleReads(t *testing.T) {
	table := map[string]any{"podverdict": map[string]any{"table": map[string]any{"x": 1}}}
	for _, c := range []struct {
		data map[string]any
		read string // by one more rule
		want string
	}{
		{map[string]any{"config": map[string]any{"max": 1}}, "", "config: no rule of the bundle reads it, did you mean podverdict.config?"},
		{map[string]any{"podverdict": map[string]any{"config": map[string]any{"names": map[string]any{"requierd": true}}}},
			"", "podverdict.config.names.requierd: no rule of the bundle reads it"},
		{map[string]any{"podverdict": map[string]any{"config": map[string]any{"max": 1}}}, "", ""},
		{map[string]any{"podverdict": map[string]any{}}, "", ""},
		{table, "data.podverdict.table.y", "podverdict.table.x: no rule of the bundle reads it"},
		{table, "data.podverdict.table[_].y", ""},
		{table, "data.podverdict.table[0].y", ""},
	} {
		got, folder := "", standIn()
		if c.read != "" {
			folder["job/more.rego"] = &fstest.MapFile{Data: []byte("package podverdict.job\n\nmore if " + c.read)}
		}
		if _, err := validator(t, folder, Options{Data: c.data}); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: got %q, want %q", c.data, got, c.want)
		}
	}
}
