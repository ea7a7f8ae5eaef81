package policies_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/rego"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
)

// The Rego rules apply the same defaults to a Job as Go, except manualSelector, which no rule reads.
func TestDefaultsAreThoseInGo(t *testing.T) {
	options := []func(*rego.Rego){rego.Query("data.podverdict.job.defaulted_spec(input)")}
	for _, m := range modules(t, isRule) {
		options = append(options, rego.ParsedModule(m))
	}
	query, err := rego.New(options...).PrepareForEval(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []batchv1.JobSpec{
		{},
		{Completions: new(int32(3))},
		{Parallelism: new(int32(3))},
		{Completions: new(int32(3)), Parallelism: new(int32(0))},
		{BackoffLimit: new(int32(0))},
		{BackoffLimitPerIndex: new(int32(1))},
		{BackoffLimitPerIndex: new(int32(1)), BackoffLimit: new(int32(5))},
		{CompletionMode: new(batchv1.IndexedCompletion), Suspend: new(true)},
		{PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{}}},
		{PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
			{Action: "Ignore", OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: "A"}, {Type: "B", Status: "False"}}},
			{Action: "FailJob", OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In", Values: []int32{1}}},
		}}},
		{PodFailurePolicy: &batchv1.PodFailurePolicy{}, PodReplacementPolicy: new(batchv1.TerminatingOrFailed)},
	} {
		results, err := query.Eval(t.Context(), rego.EvalInput(asMap(t, spec)))
		if err != nil || len(results) != 1 {
			t.Fatalf("%d results, %v", len(results), err)
		}
		jobdefaults.SetSpec(&spec)
		spec.ManualSelector = nil
		if diff := cmp.Diff(asMap(t, spec), asMap(t, results[0].Expressions[0].Value)); diff != "" {
			t.Errorf("-Go +Rego:\n%s", diff)
		}
	}
}

func asMap(t *testing.T, v any) map[string]any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}
