package evidence

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/fielddecoder"
	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/snapshot"
)

// The Pods have every field that an Outcome depends on.
const (
	fieldsJob = `{"metadata":{"name":"a","namespace":"n","uid":"u"},"spec":{"completions":2,"completionMode":"Indexed","podFailurePolicy":{"rules":[
		{"action":"FailIndex","onExitCodes":{"operator":"In","values":[3]}},{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]}]},
		"backoffLimitPerIndex":1,"template":{"spec":{"restartPolicy":"Never"}}}}`
	fieldsPods = `[
	{"metadata":{"name":"a-0","namespace":"n","uid":"0","creationTimestamp":"2026-11-01T00:00:00Z","annotations":{"batch.kubernetes.io/job-completion-index":"1"},
		"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"a","uid":"u","controller":true}]},
	 "spec":{"nodeName":"x","restartPolicy":"Never","overhead":{"cpu":"1"},
		"initContainers":[{"name":"sidecar","image":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}},{"name":"init","image":"i","resources":{"requests":{"memory":"9Gi"}}}],
		"containers":[{"name":"main","image":"m","resources":{"requests":{"cpu":"3","example.com/gpu":"1"},"limits":{"cpu":"4"}}}]},
	 "status":{"phase":"Failed","reason":"DeadlineExceeded","startTime":"2026-11-01T00:00:10Z",
		"initContainerStatuses":[{"name":"sidecar","restartCount":2,"state":{"terminated":{"exitCode":143,"finishedAt":"2026-11-01T00:02:00Z"}}}],
		"containerStatuses":[{"name":"main","image":"m","state":{"terminated":{"exitCode":3,"reason":"Error","finishedAt":"2026-11-01T00:01:10Z"}}}]}},
	{"metadata":{"name":"a-1","namespace":"n","uid":"1","labels":{"batch.kubernetes.io/job-name":"a","jobset.sigs.k8s.io/jobset-name":"j"},"deletionTimestamp":"2026-11-01T00:03:00Z"},
	 "spec":{"nodeName":"y","resources":{"requests":{"cpu":"7"}},"containers":[{"name":"main","image":"m"}]},
	 "status":{"phase":"Failed","reason":"Evicted","startTime":"2026-11-01T00:02:00Z","conditions":[{"type":"DisruptionTarget","status":"True","reason":"EvictionByEvictionAPI","lastTransitionTime":"2026-11-01T00:02:30Z"}],
		"containerStatuses":[{"name":"main","state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":4,"reason":"Error","startedAt":"2026-11-01T00:02:01Z","finishedAt":"2026-11-01T00:02:10Z"}}}]}},
	{"metadata":{"generateName":"a-2","namespace":"n","uid":"2","labels":{"job-name":"a"}},
	 "spec":{"nodeName":"y","resources":{"limits":{"cpu":"7"},"requests":{"memory":"1Gi"}},"containers":[{"name":"main","image":"m","resources":{"requests":{"memory":"2Gi"}}}]},
	 "status":{"phase":"Succeeded","startTime":"2026-11-01T00:02:00Z",
		"containerStatuses":[{"name":"main","state":{"terminated":{"exitCode":0,"finishedAt":"2026-11-01T00:04:10Z"}}}]}}]`
)

// TestPodFields checks that Pods reduced to these fields have the same Outcome, and that each field added by evidence is necessary.
func TestPodFields(t *testing.T) {
	whole := outcomeOf(t, nil)
	if diff := cmp.Diff(whole, outcomeOf(t, PodFields), cmp.AllowUnexported(Amount{}, Attempt{})); diff != "" {
		t.Errorf("the whole Pods (-) and the fields (+):\n%s", diff)
	}
	for _, field := range []string{
		"PodSpec.containers", "PodSpec.overhead", "PodSpec.resources", "Container.image", "Container.resources", "ResourceRequirements.requests",
		"PodStatus.startTime", "ContainerStatus.lastState", "Container.restartPolicy", "PodStatus.reason", "PodCondition.reason",
	} {
		fields := maps.Clone(PodFields)
		delete(fields, field)
		if cmp.Equal(whole, outcomeOf(t, fields), cmp.AllowUnexported(Amount{}, Attempt{})) {
			t.Errorf("without %s the Outcome is the same", field)
		}
	}
}

// outcomeOf returns the Outcome of a Job whose Pods have only the given fields; nil selects all.
func outcomeOf(t *testing.T, fields cel.Fields) Outcome {
	t.Helper()
	job := &batchv1.Job{}
	var pods []json.RawMessage
	if err := json.Unmarshal([]byte(fieldsJob), job); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(fieldsPods), &pods); err != nil {
		t.Fatal(err)
	}
	records := []gathering.Record{{Job: job}}
	for _, text := range pods {
		pod := &corev1.Pod{}
		if err := fielddecoder.NewPlan[corev1.Pod](fields).NewDecoder().Decode(text, pod); err != nil {
			t.Fatal(err)
		}
		records = append(records, gathering.Record{Pod: pod})
	}
	return outcomes(t, records)[0]
}

// outcomes returns the Outcomes of records of one Key, judged by the Jobs' own rules.
func outcomes(t *testing.T, records []gathering.Record) (all []Outcome) {
	t.Helper()
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	policies, err := effective.New(environment, effective.FromFiles(&manifest.Set{}))
	if err != nil {
		t.Fatal(err)
	}
	for f := range gathering.OfRecords(records).Families() {
		o, err := Of(t.Context(), f, snapshot.NewRulebook(environment, policies.For))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}
