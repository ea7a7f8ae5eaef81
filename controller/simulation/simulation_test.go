package simulation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
)

// policy is a policy with all actions.
const policy = `
podFailurePolicy:
  rules:
  - action: Ignore
    onPodConditions: [{type: DisruptionTarget}]
  - action: FailJob
    onExitCodes: {operator: In, values: [42], containerName: main}
  - action: Count
    onExitCodes: {operator: In, values: [3]}
`

const failIndex = `
podFailurePolicy:
  rules:
  - action: FailIndex
    onExitCodes: {operator: In, values: [7]}
`

// newJob parses a Job's spec, and adds a template.
func newJob(t testing.TB, spec string) *batchv1.Job {
	t.Helper()
	job := &batchv1.Job{}
	job.Name, job.Namespace = "demo", "default"
	template := "template: {spec: {restartPolicy: Never, containers: [{name: main}, {name: side}]}}"
	if !strings.Contains(spec, "template:") {
		spec += "\n" + template
	}
	if err := yaml.UnmarshalStrict([]byte(spec), &job.Spec); err != nil {
		t.Fatal(err)
	}
	return job
}

func newScript(t testing.TB, text string) Script {
	t.Helper()
	var s Script
	if err := yaml.UnmarshalStrict([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// newOptions returns options for a day.
func newOptions(t testing.TB, spec, script string) Options {
	t.Helper()
	job := newJob(t, spec)
	o := Options{Job: job, Script: newScript(t, script), Until: 24 * time.Hour}
	if job.Spec.PodFailurePolicy == nil {
		return o
	}
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	legal, err := compiler.NewPolicy(job.Spec.PodFailurePolicy)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := environment.Compile(legal)
	if err != nil {
		t.Fatal(err)
	}
	o.Program = runtime.NewProgram(compiled)
	return o
}

// told returns a result on one line.
func told(r *Result) string {
	text := fmt.Sprintf("%s %s after %s: succeeded %d, failed %d", r.Outcome, r.Reason, Clock(r.Seconds), r.Status.Succeeded, r.Status.Failed)
	if r.Status.CompletedIndexes != "" {
		text += ", completed " + r.Status.CompletedIndexes
	}
	if failed := ptr.Deref(r.Status.FailedIndexes, ""); failed != "" {
		text += ", failed indexes " + failed
	}
	if len(r.Summary.Verdicts) > 0 {
		text += fmt.Sprint(", verdicts ", strings.TrimPrefix(fmt.Sprint(r.Summary.Verdicts), "map"))
	}
	if r.Summary.Restarts > 0 {
		text += fmt.Sprint(", restarts ", r.Summary.Restarts)
	}
	return text
}

func TestLives(t *testing.T) {
	for _, test := range []struct{ name, job, script, want string }{
		{
			"nothing is scripted", "completions: 3", "",
			"Complete CompletionsReached after 1m33s: succeeded 3, failed 0",
		},
		{
			"FailJob", "completions: 5\nparallelism: 5" + policy, "pods: [{index: 2, run: 5s, exitCode: 42}]",
			"Failed PodFailurePolicy after 7s: succeeded 0, failed 5, verdicts [Count:4 FailJob:1]",
		},
		{
			"ignored evictions by the kubelet", "completions: 2\nbackoffLimit: 0" + policy, "pods: [{attempt: 1-3, condition: DisruptionTarget}]",
			"Complete CompletionsReached after 6m28s: succeeded 2, failed 0, verdicts [Ignore:6]",
		},
		{
			"a drained node", "completions: 4\nparallelism: 4\nbackoffLimit: 0" + policy,
			"nodes: 2\npods: [{run: 1m}]\nevents: [{at: 20s, drain: node-0}]",
			"Complete CompletionsReached after 1m42s: succeeded 4, failed 0, verdicts [Ignore:2]",
		},
		{
			"all nodes drained", "completions: 1\nactiveDeadlineSeconds: 600\nbackoffLimit: 0" + policy,
			"pods: [{run: 1m}]\nevents: [{at: 20s, drain: node-0}]",
			"Failed DeadlineExceeded after 10m: succeeded 0, failed 1, verdicts [Count:1 Ignore:1]",
		},
		{
			"backoffLimit", "completions: 1\nbackoffLimit: 2", "pods: [{run: 5s, exitCode: 1}]",
			"Failed BackoffLimitExceeded after 48s: succeeded 0, failed 3, verdicts [Count:3]",
		},
		{
			"restarts in place", "completions: 1\nbackoffLimit: 3\ntemplate: {spec: {restartPolicy: OnFailure, containers: [{name: main}]}}",
			"pods: [{attempt: 1-2, run: 5s, exitCode: 1}]",
			"Complete CompletionsReached after 52s: succeeded 1, failed 0, restarts 2",
		},
		{
			"too many restarts", "completions: 1\nbackoffLimit: 2\ntemplate: {spec: {restartPolicy: OnFailure, containers: [{name: main}]}}",
			"pods: [{run: 5s, oom: true}]",
			"Failed BackoffLimitExceeded after 23s: succeeded 0, failed 1, verdicts [Count:1], restarts 2",
		},
		{
			"per index", "completions: 4\nparallelism: 4\ncompletionMode: Indexed\nbackoffLimitPerIndex: 1",
			"pods: [{index: 1, exitCode: 1}, {index: 3, attempt: 1, oom: true}]",
			"Failed FailedIndexes after 1m12s: succeeded 3, failed 3, completed 0,2,3, failed indexes 1, verdicts [Count:3]",
		},
		{
			"FailIndex", "completions: 3\nparallelism: 3\ncompletionMode: Indexed\nbackoffLimitPerIndex: 5" + failIndex,
			"pods: [{index: 0, exitCode: 7}]",
			"Failed FailedIndexes after 31s: succeeded 2, failed 1, completed 1,2, failed indexes 0, verdicts [FailIndex:1]",
		},
		{
			"maxFailedIndexes", "completions: 6\nparallelism: 2\ncompletionMode: Indexed\nbackoffLimitPerIndex: 0\nmaxFailedIndexes: 1",
			"pods: [{index: 1-3, run: 5s, exitCode: 1}]",
			"Failed MaxFailedIndexesExceeded after 13s: succeeded 0, failed 3, failed indexes 1,2, verdicts [Count:3]",
		},
		{
			"successPolicy", "completions: 4\nparallelism: 4\ncompletionMode: Indexed\nsuccessPolicy: {rules: [{succeededIndexes: 0-1, succeededCount: 1}]}",
			"pods: [{index: 1, run: 10s}, {run: 10m}]",
			"Complete SuccessPolicy after 12s: succeeded 1, failed 0, completed 1",
		},
		{
			"suspended and resumed", "completions: 2\nparallelism: 2", "pods: [{run: 1m}]\nevents: [{at: 30s, suspend: true}, {at: 1h, suspend: false}]",
			"Complete CompletionsReached after 1h1m1s: succeeded 2, failed 0",
		},
		{
			"suspended for ever", "completions: 1\nsuspend: true", "",
			"Unfinished  after 24h: succeeded 0, failed 0",
		},
		{
			"a deadline", "completions: 2\nparallelism: 2\nactiveDeadlineSeconds: 60", "pods: [{index: 1, run: forever}]",
			"Failed DeadlineExceeded after 1m1s: succeeded 1, failed 1, verdicts [Count:1]",
		},
		{
			"a pod that ignores SIGTERM", "completions: 1\nactiveDeadlineSeconds: 60", "pods: [{run: forever, stop: forever}]",
			"Failed DeadlineExceeded after 1m30s: succeeded 0, failed 1, verdicts [Count:1]",
		},
		{
			"never starts", "completions: 2\nparallelism: 2\nactiveDeadlineSeconds: 60", "pods: [{index: 1, pending: forever}]",
			"Failed DeadlineExceeded after 1m: succeeded 1, failed 1, verdicts [Count:1]",
		},
		{
			"a deleted pod is replaced at once", "completions: 1\nbackoffLimit: 1", "pods: [{run: 1m, stop: 20s}]\nevents: [{at: 30s, delete: 0}]",
			"Complete CompletionsReached after 1m41s: succeeded 1, failed 1, verdicts [Count:1]",
		},
		{
			"a deleted pod is replaced when it has ended", "completions: 1\nbackoffLimit: 1\npodReplacementPolicy: Failed",
			"pods: [{run: 1m, stop: 20s}]\nevents: [{at: 30s, delete: 0}]",
			"Complete CompletionsReached after 2m1s: succeeded 1, failed 1, verdicts [Count:1]",
		},
		{
			"elastic", "completions: 2\nparallelism: 2\ncompletionMode: Indexed", "events: [{at: 10s, completions: 4, parallelism: 4}]",
			"Complete CompletionsReached after 41s: succeeded 4, failed 0, completed 0-3",
		},
		{
			"a work queue", "parallelism: 3", "pods: [{index: 0, run: 10s}, {index: 1, run: 20s, exitCode: 1}]",
			"Complete CompletionsReached after 31s: succeeded 2, failed 1, verdicts [Count:1]",
		},
		{
			"an init container", "completions: 1\nbackoffLimit: 1\ntemplate: {spec: {restartPolicy: Never, initContainers: [{name: prepare}], containers: [{name: main}]}}",
			"pods: [{attempt: 1, run: 2s, exitCodes: {prepare: 5}}]",
			"Complete CompletionsReached after 42s: succeeded 1, failed 1, verdicts [Count:1]",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := lived(t, newOptions(t, test.job, test.script))
			if got := told(r); got != test.want {
				t.Errorf("\ngot  %s\nwant %s", got, test.want)
			}
		})
	}
}
