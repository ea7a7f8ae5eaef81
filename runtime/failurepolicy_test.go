package runtime_test

import (
	"errors"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// Rules of a platform without a value for a pod that exited with 1: one has an error, and one costs too much for a Job
// with many environment variables.
const (
	evicted = "pod.status.reason == 'Evicted'"
	costly  = "job.spec.template.spec.containers[0].env.all(a, job.spec.template.spec.containers[0].env.all(b, a.name != b.name + 'x'))"
)

func largeJob() *batchv1.Job {
	job := &batchv1.Job{}
	job.Spec.Template.Spec.Containers = []corev1.Container{{Env: make([]corev1.EnvVar, 3000)}}
	return job
}

// TestFailurePolicy checks the effect of a platform rule without a value on a Job's own rules and on the platform's other
// rules.
func TestFailurePolicy(t *testing.T) {
	own := runtime.NewProgram(compiled(t, policyOf(t, `[{action: FailJob, onExitCodes: {operator: In, values: [42]}}]`)))
	condition := errors.New("spec.matchConditions[0].expression: no such key: labels")
	for _, c := range []struct {
		name     string
		when     string // expression of the platform's first rule; the second one is about exit code 7
		failing  bool   // a match condition has no value
		exitCode int32
		// Which of "", "own" and "platform" takes effect, with failurePolicy Ignore and Fail, Before and After, and
		// whether the error is reported.
		ignoreBefore, ignoreAfter, failBefore, failAfter string
	}{
		{"error, own rule", evicted, false, 42, "own, told", "own", "count, told", "own"},
		{"error, next rule", evicted, false, 7, "platform, told", "platform, told", "count, told", "count, told"},
		{"error, no rule", evicted, false, 1, "count, told", "count, told", "count, told", "count, told"},
		{"stopped, own rule", costly, false, 42, "own, told", "own", "count, told", "own"},
		{"stopped, next rule", costly, false, 7, "platform, told", "platform, told", "count, told", "count, told"},
		{"stopped, no rule", costly, false, 1, "count, told", "count, told", "count, told", "count, told"},
		{"value, own rule", "false", false, 42, "own", "own", "own", "own"},
		{"value, next rule", "false", false, 7, "platform", "platform", "platform", "platform"},
		{"condition, own rule", "false", true, 42, "", "", "count, told", "own"},
		{"condition, next rule", "false", true, 7, "", "", "count, told", "count, told"},
	} {
		if testing.Short() && c.when == costly {
			continue // takes a second each
		}
		for _, at := range []struct {
			policy v1alpha1.FailurePolicy
			before bool
			want   string
		}{
			{v1alpha1.FailurePolicyIgnore, true, c.ignoreBefore},
			{v1alpha1.FailurePolicyIgnore, false, c.ignoreAfter},
			{v1alpha1.FailurePolicyFail, true, c.failBefore},
			{v1alpha1.FailurePolicyFail, false, c.failAfter},
		} {
			if at.want == "" {
				continue // package binding excludes such a policy
			}
			platform := policyWith(t, "platform", at.policy,
				v1alpha1.Rule{Name: "first", When: c.when, Action: ignore},
				v1alpha1.Rule{Name: "second", When: "pod.failedContainers().exists(c, c.exitCode == 7)", Action: ignore})
			if c.failing {
				platform = platform.Failing(condition)
			}
			policies := []*runtime.Policy{platform}
			joined := runtime.Join(policies, own, nil)
			if !at.before {
				joined = runtime.Join(nil, own, policies)
			}
			pod := namedPod("default", "p")
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{*container("main", c.exitCode)}
			in := runtime.Input{Pod: pod, Job: largeJob(), Attempt: 1}
			v := joined.Judge(t.Context(), in)
			if got := effect(v); got != at.want {
				t.Errorf("%s, %s, before %t: %s (%v), want %s", c.name, at.policy, at.before, got, v.Err, at.want)
			}
			if e, err := joined.Explain(t.Context(), in); err != nil || !e.Verdict.Equal(v) || decides(e) != (v.Matched || v.Err != nil && at.policy == v1alpha1.FailurePolicyFail) {
				t.Errorf("%s, %s, before %t: explained as %+v, %v", c.name, at.policy, at.before, e.Rules, err)
			}
		}
	}
}

func effect(v runtime.Verdict) string {
	told := ""
	if v.Err != nil {
		told = ", told"
	}
	switch {
	case v.Matched && v.Policy == "" && v.Action == failJob:
		return "own" + told
	case v.Matched && v.Policy == "platform" && v.RuleName == "second" && v.Action == ignore:
		return "platform" + told
	case !v.Matched && v.Action == count && v.Counted && v.Rule == runtime.NoRule:
		return "count" + told
	default:
		return v.Message()
	}
}

func decides(e runtime.Explanation) bool {
	for i := range e.Rules {
		if e.Rules[i].Decides() {
			return true
		}
	}
	return false
}
