package jobset

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// failedJob returns Job set-NAME-INDEX, which failed at the given second.
func failedJob(name, index string, second int, reason, message string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name:   "set-" + name + "-" + index,
			Labels: map[string]string{v1alpha2.ReplicatedJobNameKey: name, v1alpha2.JobIndexKey: index},
		},
		Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{
			Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: reason, Message: message,
			LastTransitionTime: metav1.Unix(int64(second), 0),
		}}},
	}
}

// policyOf returns a failurePolicy with the given rules.
func policyOf(maxRestarts int32, rules ...v1alpha2.FailurePolicyRule) *v1alpha2.FailurePolicy {
	return &v1alpha2.FailurePolicy{MaxRestarts: maxRestarts, Rules: rules}
}

const (
	backoff   = batchv1.JobReasonBackoffLimitExceeded
	podPolicy = batchv1.JobReasonPodFailurePolicy
	exit42    = "Container main for pod default/p failed with exit code 42 matching FailJob rule at index 0"
)

func TestDecide(t *testing.T) {
	worker0 := failedJob("worker", "0", 20, backoff, "Job has reached the specified backoff limit")
	worker1 := failedJob("worker", "1", 10, podPolicy, exit42)
	driver := failedJob("driver", "0", 30, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
	stranger := failedJob("", "0", 1, backoff, "")
	running := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "running"}}
	counted := v1alpha2.JobSetStatus{Restarts: 5, RestartsCountTowardsMax: 2, ReplicatedJobsStatus: []v1alpha2.ReplicatedJobStatus{
		{Name: "worker", JobRestarts: []int32{3, 1}, JobRestartsCountTowardsMax: []int32{1, 0}}, {Name: "driver"},
	}}
	type rule = v1alpha2.FailurePolicyRule
	for _, test := range []struct {
		name   string
		policy *v1alpha2.FailurePolicy
		status v1alpha2.JobSetStatus
		failed []*batchv1.Job
		gates  Gates
		want   Decision
	}{
		{name: "nothing has failed", policy: policyOf(1), failed: []*batchv1.Job{running}, want: Decision{Rule: -1}},
		{
			name: "without a policy", failed: []*batchv1.Job{running, worker0, worker1},
			want: Decision{
				Rule: -1, Job: worker1, Failed: true, Reason: "FailedJobs",
				Message: "jobset failed due to one or more job failures (first failed job: set-worker-1)",
			},
		},
		{
			name: "a policy without rules restarts", policy: policyOf(3), status: counted, failed: []*batchv1.Job{worker0, worker1},
			want: Decision{
				Rule: -1, Action: v1alpha2.RestartJobSet, Job: worker1, Restart: 3, Max: 3, Counted: true, Reason: "DefaultFailurePolicy",
				Message: "applying RestartJobSet failure policy action (first failed job: set-worker-1)",
			},
		},
		{
			name: "maxRestarts is reached", policy: policyOf(2), status: counted, failed: []*batchv1.Job{worker0},
			want: Decision{
				Rule: -1, Action: v1alpha2.RestartJobSet, Job: worker0, Failed: true, Reason: "ReachedMaxRestarts",
				Message: "jobset failed due to reaching max number of restarts (first failed job: set-worker-0)",
			},
		},
		{
			name: "the first rule that applies wins, with its own first Job", status: counted, failed: []*batchv1.Job{worker0, worker1, driver},
			policy: policyOf(
				0, rule{Name: "no", Action: v1alpha2.FailJobSet, OnJobFailureReasons: []string{"FailedIndexes"}},
				rule{Name: "slow", Action: v1alpha2.RestartJobSetAndIgnoreMaxRestarts, OnJobFailureReasons: []string{"DeadlineExceeded"}},
				rule{Name: "any", Action: v1alpha2.FailJobSet},
			),
			want: Decision{
				Rule: 1, RuleName: "slow", Action: v1alpha2.RestartJobSetAndIgnoreMaxRestarts, Job: driver, Restart: 6, Reason: "FailurePolicy_slow",
				Message: "applying RestartJobSetAndIgnoreMaxRestarts failure policy action (first failed job: set-driver-0)",
			},
		},
		{
			name: "a rule asks for all of its conditions", failed: []*batchv1.Job{worker0, worker1},
			policy: policyOf(
				1, rule{Name: "a", Action: v1alpha2.FailJobSet, OnJobFailureReasons: []string{podPolicy}, TargetReplicatedJobs: []string{"driver"}},
				rule{Name: "b", Action: v1alpha2.FailJobSet, OnJobFailureReasons: []string{backoff}, OnJobFailureMessagePatterns: []string{"exit code"}},
				rule{Name: "c", Action: v1alpha2.FailJobSet, OnJobFailureMessagePatterns: []string{"(", `exit code 4\d `}, TargetReplicatedJobs: []string{"driver", "worker"}},
			),
			want: Decision{
				Rule: 2, RuleName: "c", Action: v1alpha2.FailJobSet, Job: worker1, Failed: true, Reason: "FailJobSetFailurePolicyAction",
				Message: "applying FailJobSet failure policy action (first failed job: set-worker-1)",
			},
		},
		{
			name: "no rule applies to a Job of no replicatedJob", policy: policyOf(1, rule{Name: "a", Action: v1alpha2.FailJobSet}),
			failed: []*batchv1.Job{stranger},
			want: Decision{
				Rule: -1, Action: v1alpha2.RestartJobSet, Job: stranger, Restart: 1, Max: 1, Counted: true, Reason: "DefaultFailurePolicy",
				Message: "applying RestartJobSet failure policy action (first failed job: set--0)",
			},
		},
		{
			name: "restarts of single Jobs count with the gate", policy: policyOf(3), status: counted, failed: []*batchv1.Job{worker0},
			gates: Gates{RestartJob: true},
			want: Decision{
				Rule: -1, Action: v1alpha2.RestartJobSet, Job: worker0, Failed: true, Reason: "ReachedMaxRestarts",
				Message: "jobset failed due to reaching max number of restarts (first failed job: set-worker-0)",
			},
		},
		{
			name: "a single Job", policy: policyOf(4, rule{Name: "a", Action: v1alpha2.RestartJob}), status: counted,
			failed: []*batchv1.Job{worker0}, gates: Gates{RestartJob: true},
			want: Decision{
				RuleName: "a", Action: v1alpha2.RestartJob, Job: worker0, Restart: 4, Max: 4, Counted: true, Reason: "RestartJobFailurePolicyAction",
				Message: "applying RestartJob failure policy action (first failed job: set-worker-0)",
			},
		},
		{
			name: "a single Job, not counted", policy: policyOf(0, rule{Name: "a", Action: v1alpha2.RestartJobAndIgnoreMaxRestarts}), status: counted,
			failed: []*batchv1.Job{worker1}, gates: Gates{RestartJob: true},
			want: Decision{
				RuleName: "a", Action: v1alpha2.RestartJobAndIgnoreMaxRestarts, Job: worker1, Restart: 2,
				Reason:  "RestartJobAndIgnoreMaxRestartsFailurePolicyAction",
				Message: "applying RestartJobAndIgnoreMaxRestarts failure policy action (first failed job: set-worker-1)",
			},
		},
		{
			name: "a single Job without the gate", policy: policyOf(4, rule{Name: "a", Action: v1alpha2.RestartJob}), failed: []*batchv1.Job{worker0},
			want: Decision{
				RuleName: "a", Action: v1alpha2.RestartJob, Job: worker0, Message: "the action RestartJob needs the feature gate RestartJob",
			},
		},
		{
			name: "a Job beyond the replicas", policy: policyOf(4, rule{Name: "a", Action: v1alpha2.RestartJob}), gates: Gates{RestartJob: true},
			failed: []*batchv1.Job{failedJob("worker", "2", 0, backoff, "")},
			want: Decision{
				RuleName: "a", Action: v1alpha2.RestartJob, Job: failedJob("worker", "2", 0, backoff, ""),
				Message: `label jobset.sigs.k8s.io/job-index of Job set-worker-2 is "2", and should be the number of one of 2 Jobs`,
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := &v1alpha2.JobSet{
				Spec: v1alpha2.JobSetSpec{FailurePolicy: test.policy, ReplicatedJobs: []v1alpha2.ReplicatedJob{
					{Name: "driver", Replicas: 1}, {Name: "worker", Replicas: 2},
				}}, Status: test.status,
			}
			if diff := cmp.Diff(test.want, Decide(set, test.failed, test.gates)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	worker := failedJob("worker", "1", 0, backoff, "")
	set := &v1alpha2.JobSet{Spec: v1alpha2.JobSetSpec{ReplicatedJobs: []v1alpha2.ReplicatedJob{{Name: "worker", Replicas: 2}}}}
	want := v1alpha2.JobSetStatus{}
	for _, step := range []struct {
		action v1alpha2.FailurePolicyAction
		change func()
	}{
		{v1alpha2.RestartJobSet, func() { want.Restarts, want.RestartsCountTowardsMax = 1, 1 }},
		{v1alpha2.RestartJobSetAndIgnoreMaxRestarts, func() { want.Restarts = 2 }},
		{v1alpha2.RestartJobAndIgnoreMaxRestarts, func() {
			want.ReplicatedJobsStatus = []v1alpha2.ReplicatedJobStatus{{Name: "worker", JobRestarts: []int32{0, 1}}}
		}},
		{v1alpha2.RestartJob, func() {
			want.ReplicatedJobsStatus = []v1alpha2.ReplicatedJobStatus{
				{Name: "worker", JobRestarts: []int32{0, 2}, JobRestartsCountTowardsMax: []int32{0, 1}},
			}
		}},
		{"Unknown", func() {}},
		{v1alpha2.RestartJob, func() { want.TerminalState = "Failed" }},
	} {
		set.Spec.FailurePolicy = policyOf(2, v1alpha2.FailurePolicyRule{Name: "a", Action: step.action})
		before := set.Status.DeepCopy()
		after := Decide(set, []*batchv1.Job{worker}, Gates{RestartJob: true}).Status(set)
		if diff := cmp.Diff(*before, set.Status); diff != "" {
			t.Errorf("%s: the status of the JobSet has changed:\n%s", step.action, diff)
		}
		step.change()
		if diff := cmp.Diff(want, after, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("after %s, -want +got:\n%s", step.action, diff)
		}
		set.Status = after
	}
}

func TestDecideTakesTheEarlierOfEqualTimes(t *testing.T) {
	first, second := failedJob("a", "0", 5, backoff, ""), failedJob("b", "0", 5, backoff, "")
	first.Status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Unix(5, 0))
	if d := Decide(&v1alpha2.JobSet{}, []*batchv1.Job{first, second}, Gates{}); d.Job != first {
		t.Errorf("got Job %s", d.Job.Name)
	}
}
