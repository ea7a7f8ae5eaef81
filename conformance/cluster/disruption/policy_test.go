//go:build cluster

package disruption

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
	"github.com/podverdict/podverdict/runtime"
)

// policy is a Job's podFailurePolicy, with its expected outcomes for a disrupted pod by the manner of the pod's end.
type policy struct {
	name     string
	rules    []batchv1.PodFailurePolicyRule
	shape    func(*batchv1.JobSpec) // changes the Job's spec, or nil
	exitCode string                 // exit code of the containers of a deleted pod
	want     map[manner]outcome
}

// manner is the way a disrupted pod ends.
type manner string

const (
	terminated manner = "terminated" // it is deleted, and its containers choose their exit code
	killed     manner = "killed"     // the kubelet kills its containers: exit code 137
	lost       manner = "lost"       // the fate of its containers is unknown
)

// outcome is the program's verdict on the pod, and the end of the Job.
type outcome struct {
	verdict judgement
	job     ending
}

// judgement is a verdict without its message.
type judgement struct {
	Terminal, Matched, Counted bool

	Action    batchv1.PodFailurePolicyAction
	Rule      int
	Container string
	ExitCode  int32
	Condition corev1.PodConditionType
}

func judgementOf(v runtime.Verdict) judgement {
	return judgement{
		Terminal: v.Terminal, Matched: v.Matched, Counted: v.Counted,
		Action: v.Action, Rule: v.Rule, Container: v.Container, ExitCode: v.ExitCode, Condition: v.Condition,
	}
}

// ending is the end of a Job.
type ending struct {
	Condition                       batchv1.JobConditionType
	Reason                          string
	Succeeded, Failed               int32
	CompletedIndexes, FailedIndexes string
}

var policies = []policy{
	{
		// With a backoffLimit of 0, a counted failure would fail the Job.
		name:  "ignores",
		rules: []batchv1.PodFailurePolicyRule{onDisruption(batchv1.PodFailurePolicyActionIgnore)},
		want:  always(outcome{byDisruption(0, batchv1.PodFailurePolicyActionIgnore), completed(0)}),
	},
	{
		name:  "fails",
		rules: []batchv1.PodFailurePolicyRule{onDisruption(batchv1.PodFailurePolicyActionFailJob)},
		want:  always(outcome{byDisruption(0, batchv1.PodFailurePolicyActionFailJob), byPolicy}),
	},
	{
		name:  "fails-index",
		rules: []batchv1.PodFailurePolicyRule{onDisruption(batchv1.PodFailurePolicyActionFailIndex)},
		shape: func(spec *batchv1.JobSpec) {
			spec.CompletionMode, spec.BackoffLimitPerIndex = new(batchv1.IndexedCompletion), new(int32(3))
		},
		want: always(outcome{byDisruption(0, batchv1.PodFailurePolicyActionFailIndex), byIndexes}),
	},
	{
		// A bug shows while the program stops: the rule for it comes first.
		name: "has-bugs", exitCode: "42",
		rules: []batchv1.PodFailurePolicyRule{testcluster.OnExitCodes(batchv1.PodFailurePolicyActionFailJob, 42), onDisruption(batchv1.PodFailurePolicyActionIgnore)},
		want: map[manner]outcome{
			terminated: {byExit(0, batchv1.PodFailurePolicyActionFailJob, 42), byPolicy},
			killed:     {byDisruption(1, batchv1.PodFailurePolicyActionIgnore), completed(0)},
			lost:       {byDisruption(1, batchv1.PodFailurePolicyActionIgnore), completed(0)},
		},
	},
	{
		// The exit codes of SIGTERM and SIGKILL take precedence over the disruption, if there are any.
		name:  "counts",
		rules: []batchv1.PodFailurePolicyRule{testcluster.OnExitCodes(batchv1.PodFailurePolicyActionCount, 137, 143), onDisruption(batchv1.PodFailurePolicyActionFailJob)},
		shape: func(spec *batchv1.JobSpec) { spec.BackoffLimit = new(int32(1)) },
		want: map[manner]outcome{
			terminated: {byExit(0, batchv1.PodFailurePolicyActionCount, 143), completed(1)},
			killed:     {byExit(0, batchv1.PodFailurePolicyActionCount, 137), completed(1)},
			lost:       {byDisruption(1, batchv1.PodFailurePolicyActionFailJob), byPolicy},
		},
	},
	{
		name:  "is-silent",
		rules: []batchv1.PodFailurePolicyRule{testcluster.OnExitCodes(batchv1.PodFailurePolicyActionIgnore, 42)},
		want:  always(outcome{byNoRule, ending{Condition: batchv1.JobFailed, Reason: batchv1.JobReasonBackoffLimitExceeded, Failed: 1}}),
	},
	{
		// Its work was done when it was asked to stop: the policy is not evaluated.
		name: "is-not-asked", exitCode: "0",
		rules: []batchv1.PodFailurePolicyRule{onDisruption(batchv1.PodFailurePolicyActionFailJob)},
		want:  map[manner]outcome{terminated: {judgement{Rule: runtime.NoRule}, completed(0)}},
	},
}

func onDisruption(action batchv1.PodFailurePolicyAction) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
		{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
	}}
}

// always returns the same outcome for every manner.
func always(o outcome) map[manner]outcome {
	return map[manner]outcome{terminated: o, killed: o, lost: o}
}

func byDisruption(rule int, action batchv1.PodFailurePolicyAction) judgement {
	return judgement{
		Terminal: true, Matched: true, Counted: action != batchv1.PodFailurePolicyActionIgnore,
		Action: action, Rule: rule, Condition: corev1.DisruptionTarget,
	}
}

func byExit(rule int, action batchv1.PodFailurePolicyAction, code int32) judgement {
	return judgement{
		Terminal: true, Matched: true, Counted: action != batchv1.PodFailurePolicyActionIgnore,
		Action: action, Rule: rule, Container: testcluster.Container, ExitCode: code,
	}
}

var byNoRule = judgement{Terminal: true, Counted: true, Action: batchv1.PodFailurePolicyActionCount, Rule: runtime.NoRule}

func completed(failed int32) ending {
	return ending{Condition: batchv1.JobComplete, Reason: batchv1.JobReasonCompletionsReached, Succeeded: 1, Failed: failed}
}

var (
	byPolicy  = ending{Condition: batchv1.JobFailed, Reason: batchv1.JobReasonPodFailurePolicy, Failed: 1}
	byIndexes = ending{Condition: batchv1.JobFailed, Reason: batchv1.JobReasonFailedIndexes, Failed: 1, FailedIndexes: "0"}
)
