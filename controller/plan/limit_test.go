package plan

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// TestLimits covers part C of the semantics: limits.
func TestLimits(t *testing.T) {
	ni := nonIndexed(5, 2).started()
	never0, never1 := ni.backoffLimit(0), ni.backoffLimit(1)
	onFailure := ni.with(func(j *batchv1.Job) { j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure })
	restarted := func(slot int, count int32) podBuilder {
		return podOf(ni, slot, 0).running().with(func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "prepare", RestartCount: 1}}
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: count - 1}}
		})
	}
	runAll(t, []behaviour{
		{name: "48: what the ledger and the pods count adds up", second: 9,
			job:  never1.status(func(s *batchv1.JobStatus) { s.Failed = 1 }).ledger(`{"failed":1}`),
			pods: []podBuilder{podOf(ni, 0, 1).exited(1, 9)}, want: want{status: conditions("FailureTarget/BackoffLimitExceeded")}},
		{name: "what has vanished, but status.failed remembers, is over the limit",
			job:  ni.backoffLimit(2).ledger(`{"failed":1}`).status(func(s *batchv1.JobStatus) { s.Failed = 3 }),
			want: want{status: conditions("FailureTarget/BackoffLimitExceeded")}},
		{name: "49: OnFailure: the limit 0 allows no restart", job: onFailure.backoffLimit(0), pods: []podBuilder{restarted(0, 1), podOf(ni, 1, 0)},
			want: want{status: conditions("FailureTarget/BackoffLimitExceeded")}},
		{name: "49: OnFailure: restarts of terminal pods are not asked", job: onFailure.backoffLimit(2),
			pods: []podBuilder{restarted(0, 3).with(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), podOf(ni, 1, 0)},
			want: want{create: []string{"2/0"}, status: conditions()}},
		{name: "46: containers restarted by rules are no failures", job: never0.policy(), pods: []podBuilder{restarted(0, 3), podOf(ni, 1, 0)},
			want: want{status: all(conditions(), numbers(2, 0, 0))}},
	})
}

func TestDeadline(t *testing.T) {
	b := nonIndexed(5, 1).started().with(func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = new(int64(30)) })
	runAll(t, []behaviour{
		{name: "before", job: b, second: 29, pods: []podBuilder{podOf(b, 0, 0)}, want: want{status: conditions(), lookAgain: 1}},
		{name: "at", job: b, second: 30, pods: []podBuilder{podOf(b, 0, 0)}, want: want{
			status: all(conditions("FailureTarget/DeadlineExceeded"), message(batchv1.JobFailureTarget, "Job was active longer than specified deadline"))}},
		{name: "from the start", job: nonIndexed(5, 1).with(func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = new(int64(30)) }), second: 100,
			want: want{create: []string{"0/0"}, status: conditions(), lookAgain: 30, events: []string{ReasonJobStart}}},
	})
}

func TestLimitsPerIndex(t *testing.T) {
	zero, one := perIndex(4, 2, 0).started(), perIndex(4, 2, 1).started()
	policy0, policy1 := zero.policy(), one.policy()
	limited := func(m int32) jobBuilder {
		return zero.with(func(j *batchv1.Job) { j.Spec.MaxFailedIndexes = &m })
	}
	failed := func(slot int) podBuilder { return podOf(zero, slot, 0).failures(0).exited(1, 1) }
	runAll(t, []behaviour{
		{name: "60: and nil without a limit per index", job: indexed(4, 2), want: want{create: []string{"0/0", "1/0"}, status: failedIndexes(nil), events: []string{ReasonJobStart}}},
		{name: "50: with limit 1 the second is", job: one, pods: []podBuilder{podOf(one, 0, 1).failures(1).exited(1, 1), podOf(one, 1, 0).ready()}, second: 60,
			want: want{create: []string{"2/0"}, status: failedIndexes(new("0"))}},
		{name: "51: an ignored failure is tried again", job: policy0, pods: []podBuilder{podOf(zero, 0, 0).failures(0).exited(codeIgnore, 1), podOf(zero, 1, 0).ready()}, second: 60,
			want: want{create: []string{"0/1"}, status: all(failedIndexes(new("")), numbers(1, 0, 0))}},
		{name: "52: FailIndex ends the index and counts", job: policy1, pods: []podBuilder{podOf(one, 0, 0).failures(0).exited(codeFailIndex, 1), podOf(one, 1, 0).ready()}, second: 60,
			want: want{create: []string{"2/0"}, status: all(failedIndexes(new("0")), numbers(1, 0, 1))}},
		{name: "53: above it the Job fails", job: limited(1), pods: []podBuilder{failed(0), failed(1)},
			want: want{status: all(conditions("FailureTarget/MaxFailedIndexesExceeded"), failedIndexes(new("0,1")),
				message(batchv1.JobFailureTarget, "Job has exceeded the specified maximal number of failed indexes"))}},
		{name: "53: at it the Job goes on", job: limited(2), pods: []podBuilder{failed(0), failed(1)},
			want: want{create: []string{"2/0", "3/0"}, status: all(conditions(), failedIndexes(new("0,1")), numbers(0, 0, 2))}},
		{name: "54: a Job with failed indexes fails when the others are done", job: zero,
			pods: []podBuilder{failed(0), podOf(zero, 1, 0).exited(0, 2), podOf(zero, 2, 0).exited(0, 2), podOf(zero, 3, 0).exited(0, 2)},
			want: want{status: all(conditions("FailureTarget/FailedIndexes"), message(batchv1.JobFailureTarget, "Job has failed indexes"), completed("1-3"), numbers(0, 3, 1))}},
		{name: "55: backoffLimit counts over all indexes", job: one.backoffLimit(1), pods: []podBuilder{podOf(one, 0, 0).failures(0).exited(1, 1), podOf(one, 1, 0).failures(0).exited(1, 1)},
			want: want{status: all(conditions("FailureTarget/BackoffLimitExceeded"), failedIndexes(new("")), numbers(0, 0, 2))}},
		{name: "56: but one that is terminating counts at once, as it could still succeed", job: one, second: 2,
			pods: []podBuilder{podOf(one, 0, 0).failures(0).running().deleted(1), podOf(one, 1, 0).ready()},
			want: want{status: all(numbers(1, 0, 1), terminating(1)), lookAgain: 9}},
		{name: "59: FailJob below the limit fails no index", job: policy1, pods: []podBuilder{podOf(one, 0, 0).failures(0).exited(codeFailJob, 1), podOf(one, 1, 0).ready()},
			want: want{status: all(conditions("FailureTarget/PodFailurePolicy"), failedIndexes(new("")), numbers(1, 0, 1))}},
		{name: "an active pod of an index that failed goes", job: zero.status(func(s *batchv1.JobStatus) { s.FailedIndexes = new("0") }),
			pods: []podBuilder{podOf(zero, 0, 1).ready()}, want: want{dismiss: []string{"0/1"}, create: []string{"1/0"}}},
	})
}

// TestFailureCounts covers items 37, 57 and 58: the counts that the replacement carries.
func TestFailureCounts(t *testing.T) {
	b := perIndex(1, 1, 9).started()
	policy := b.policy()
	tests := map[string]struct {
		job           jobBuilder
		pods          []podBuilder
		counted, rest string
	}{
		"the first pod":                       {b, nil, "0", ""},
		"after a failure":                     {b, []podBuilder{podOf(b, 0, 0).failures(0).exited(1, 0)}, "1", ""},
		"37: after one ignored":               {policy, []podBuilder{podOf(b, 0, 0).failures(2).exited(codeIgnore, 0)}, "2", "1"},
		"37: after one counted, some ignored": {policy, []podBuilder{podOf(b, 0, 0).failures(1).ignored(3).exited(1, 0)}, "2", "3"},
		"57: the most failures, then the last": {policy, []podBuilder{
			podOf(b, 0, 0).failures(2).exited(1, 5), podOf(b, 0, 1).failures(1).ignored(2).exited(1, 6), podOf(b, 0, 2).failures(1).exited(1, 7)}, "2", "2"},
		"58: no annotation":    {b, []podBuilder{podOf(b, 0, 3).exited(1, 0)}, "1", ""},
		"58: not a number":     {b, []podBuilder{podOf(b, 0, 0).annotated(batchv1.JobIndexFailureCountAnnotation, "two").exited(1, 0)}, "1", ""},
		"58: negative":         {b, []podBuilder{podOf(b, 0, 0).failures(-4).exited(1, 0)}, "1", ""},
		"58: beyond 32 bits":   {b, []podBuilder{podOf(b, 0, 0).failures(1<<31).exited(1, 0)}, "1", ""},
		"58: ignored, garbage": {policy, []podBuilder{podOf(b, 0, 0).failures(0).annotated(batchv1.JobIndexIgnoredFailureCountAnnotation, "x").exited(codeIgnore, 0)}, "0", "1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := planned(t, seen(test.job, 100000, test.pods...))
			if len(p.Create) != 1 {
				t.Fatalf("%d pods are created", len(p.Create))
			}
			got := p.Create[0].Annotations
			if got[batchv1.JobIndexFailureCountAnnotation] != test.counted || got[batchv1.JobIndexIgnoredFailureCountAnnotation] != test.rest {
				t.Errorf("annotations are %v", got)
			}
		})
	}
}

// TestPrecedence covers part E of the semantics: the terminal decision.
func TestPrecedence(t *testing.T) {
	// All reasons to end apply at once; the first reason is removed step by step.
	b := perIndex(2, 2, 0).started().policy().backoffLimit(0).with(func(j *batchv1.Job) {
		j.Spec.ActiveDeadlineSeconds, j.Spec.MaxFailedIndexes = new(int64(10)), new(int32(0))
		j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: new(int32(1))}}}
	})
	pods := []podBuilder{podOf(b, 0, 0).exited(codeFailJob, 1), podOf(b, 1, 0).exited(0, 1)}
	steps := []struct {
		name string
		job  func(*batchv1.Job)
		pods func(*corev1.Pod)
		want string
	}{
		{name: "69, 70: FailJob", want: "FailureTarget/PodFailurePolicy"},
		{name: "69: backoffLimit", pods: func(p *corev1.Pod) { p.Status.ContainerStatuses[0].State.Terminated.ExitCode = 1 }, want: "FailureTarget/BackoffLimitExceeded"},
		{name: "69: deadline", job: func(j *batchv1.Job) { j.Spec.BackoffLimit = new(int32(6)) }, want: "FailureTarget/DeadlineExceeded"},
		{name: "69: maxFailedIndexes", job: func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = nil }, want: "FailureTarget/MaxFailedIndexesExceeded"},
		{name: "69: failed indexes", job: func(j *batchv1.Job) { j.Spec.MaxFailedIndexes = nil }, want: "FailureTarget/FailedIndexes"},
		{name: "69: success policy", job: func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex = new(int32(3)) }, want: "SuccessCriteriaMet/SuccessPolicy"},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			if step.job != nil {
				b = b.with(step.job)
			}
			if step.pods != nil {
				pods[0].with(step.pods)
			}
			if wrong := conditions(step.want)(&planned(t, seen(b, 60, pods...)).Write.Status); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

func TestStoredGoals(t *testing.T) {
	b := nonIndexed(2, 2).started().policy().backoffLimit(0)
	failed := []podBuilder{podOf(b, 0, 0).exited(codeFailJob, 1), podOf(b, 1, 0).exited(codeFailJob, 2)}
	met := b.condition(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, "SuccessPolicy", "M")
	ended := func(kind batchv1.JobConditionType) want {
		return want{status: func(s *batchv1.JobStatus) string { return message(kind, "M")(s) }}
	}
	runAll(t, []behaviour{
		{name: "69, 71: SuccessCriteriaMet stays", job: met.status(func(s *batchv1.JobStatus) { s.Succeeded = 2 }), pods: failed,
			want: want{status: all(conditions("SuccessCriteriaMet/SuccessPolicy", "Complete/SuccessPolicy")), events: []string{"Completed", ReasonJobFinish}}},
		{name: "72: the recorded message stays", job: b.condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "PodFailurePolicy", "M"), pods: failed[1:],
			want: want{status: ended(batchv1.JobFailed).status, events: []string{"PodFailurePolicy", ReasonJobFinish}}},
		{name: "75: FailureTarget=False is none, and is set in place", job: b.condition(batchv1.JobFailureTarget, corev1.ConditionFalse, "R", "M"), pods: failed,
			want: want{status: conditions("FailureTarget/PodFailurePolicy")}},
		{name: "75: nor does it stop the Job", job: nonIndexed(2, 1).started().condition(batchv1.JobFailureTarget, corev1.ConditionFalse, "R", "M"),
			want: want{create: []string{"0/0"}, status: conditions()}},
	})
}

// TestFailJobMessage covers item 77: the message names the pod that failed first, whatever the order of the cache.
func TestFailJobMessage(t *testing.T) {
	b := nonIndexed(2, 2).started().policy()
	pods := []podBuilder{podOf(b, 0, 0).exited(codeFailJob, 9), podOf(b, 1, 0).exited(codeFailJob, 5)}
	want := "Container main for pod ns/" + pods[1].p.Name + " failed with exit code 42 matching FailJob rule at index 1"
	for _, o := range []Observation{seen(b, 10, pods...), seen(b, 10, pods[1], pods[0])} {
		if wrong := message(batchv1.JobFailureTarget, want)(&planned(t, o).Write.Status); wrong != "" {
			t.Error(wrong)
		}
	}
}
