package rego

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWarnings checks that the validator returns warnings only if requested.
func TestWarnings(t *testing.T) {
	odd := map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{
			"completionMode": "Indexed", "completions": int64(100_001), "parallelism": int64(10_001), "backoffLimit": int64(-1),
			"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never"}},
		},
	}
	for _, test := range []struct {
		name string
		o    Options
		want map[string]string
	}{
		{"asked for", Options{Warnings: true}, map[string]string{"P4": "error", "P8": "warning"}},
		{"not asked for", Options{}, map[string]string{"P4": "error"}},
	} {
		v, err := New(t.Context(), test.o)
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

// TestGuardrailsOfUpdates checks that a finding that the old object also has is not reported for an
// update.
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

func TestSettings(t *testing.T) {
	object, err := Object(training())
	if err != nil {
		t.Fatal(err)
	}
	parallel := func(found []Finding) bool {
		return slices.ContainsFunc(found, func(f Finding) bool { return f.ID == "G-PARALLELISM" })
	}
	for name, test := range map[string]struct {
		settings map[string]any
		want     bool
	}{
		"defaults":   {nil, false},
		"a number":   {map[string]any{"max": 9}, true},
		"turned off": {map[string]any{"max": 9, "enabled": false}, false},
	} {
		o := Options{Guardrails: true}
		if test.settings != nil {
			o.Settings = map[string]any{"G-PARALLELISM": test.settings}
		}
		v, err := New(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := v.Validate(t.Context(), object, nil); err != nil || parallel(found) != test.want {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
	for field, settings := range map[string]map[string]any{
		"G-NONSENSE":        {"G-NONSENSE": map[string]any{}},
		"G-TTL":             {"G-TTL": "x"},
		"G-PARALLELISM.max": {"G-PARALLELISM": map[string]any{"max": "nine"}},
	} {
		_, err := New(t.Context(), Options{Settings: settings, Guardrails: true})
		if wrong, ok := errors.AsType[*SettingError](err); !ok || wrong.Field != field || wrong.Message == "" {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestBadAnswers(t *testing.T) {
	for want, answer := range map[string]any{
		"int is no list":          5,
		"element 0 is no object":  []any{"x"},
		"field is no string, or ": []any{map[string]any{"id": "x"}},
	} {
		if _, err := findings(answer, severityError); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// training returns a realistic Job: indexed, with a policy of four rules and one error.
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

// TestLimit checks that an evaluation takes no longer than the limit.
func TestLimit(t *testing.T) {
	v, err := New(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	v.questions[0].limit = time.Nanosecond
	_, err = v.ValidateJob(t.Context(), training(), nil)
	if want := "bundle: data.podverdict.job.findings gives no answer within 1ns, and was stopped"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.ValidateJob(ctx, training(), nil); err == nil || strings.Contains(err.Error(), "no answer within") {
		t.Errorf("the caller's end is not the limit: %v", err)
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

// TestBuiltIn checks that the built-in rules use the API server's words and describe themselves.
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
			if sentence := f.Sentence(); strings.Contains(sentence, f.ID) || strings.HasPrefix(sentence, f.Field) {
				t.Errorf("sentence %q", sentence)
			}
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
