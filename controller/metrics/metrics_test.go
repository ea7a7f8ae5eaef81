package metrics_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/runtime"
)

func TestMetricsAreRegisteredAllOrNone(t *testing.T) {
	registry := prometheus.NewRegistry()
	taken := prometheus.NewCounter(prometheus.CounterOpts{Name: "podverdict_program_compile_errors_total", Help: "Taken."})
	registry.MustRegister(taken)
	if _, err := metrics.New(registry); err == nil {
		t.Error("a name that is taken is no error")
	}
	families, err := registry.Gather()
	if err != nil || len(families) != 1 {
		t.Errorf("%d metrics are there, error %v", len(families), err)
	}
}

func TestMetricsOfNobody(t *testing.T) {
	m, err := metrics.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	m.VerdictEvent(metrics.EventCreated) // does not crash
}

func TestSynced(t *testing.T) {
	m := fixtures.NewCounted(t)
	indexed := &batchv1.Job{Spec: batchv1.JobSpec{CompletionMode: new(batchv1.IndexedCompletion)}}
	odd := &batchv1.Job{Spec: batchv1.JobSpec{CompletionMode: new(batchv1.CompletionMode("Odd"))}}
	m.Synced(indexed, metrics.ActionPodsCreated, nil, time.Second)
	m.Synced(&batchv1.Job{}, metrics.ActionTracking, errors.New("no"), time.Second)
	m.Synced(odd, "dancing", nil, time.Second)
	want := map[string]float64{}
	for _, name := range []string{"job_syncs_total", "job_sync_duration_seconds"} {
		want[name+"{action=pods_created,completion_mode=Indexed,result=success}"] = 1
		want[name+"{action=tracking,completion_mode=NonIndexed,result=error}"] = 1
		want[name+"{action=other,completion_mode=other,result=success}"] = 1
	}
	m.Expect(t, want)
}

func TestJudged(t *testing.T) {
	pod := fixtures.FailedPod("a", 42)
	index := runtime.MatchedExitCode(pod, 0, batchv1.PodFailurePolicyActionFailIndex, &pod.Status.ContainerStatuses[0])
	m := fixtures.NewCounted(t)
	m.Judged(metrics.ModeManage, index)
	m.Judged(metrics.ModeObserve, index)
	m.Judged(metrics.ModeManage, runtime.Unmatched(pod))
	m.Judged(metrics.ModeManage, runtime.Failure(pod, errors.New("too costly")))
	m.Judged(metrics.ModeObserve, runtime.Verdict{Action: "Explode"})
	m.Expect(t, map[string]float64{
		"verdicts_total{action=FailIndex,matched=true,mode=manage}":      1,
		"verdicts_total{action=FailIndex,matched=true,mode=observe}":     1,
		"verdicts_total{action=Count,matched=false,mode=manage}":         2,
		"verdicts_total{action=other,matched=false,mode=observe}":        1,
		"verdict_errors_total{mode=manage}":                              1,
		"pod_failures_handled_by_failure_policy_total{action=FailIndex}": 1,
	})
}

func TestCreated(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	terminating := apierrors.NewForbidden(pods, "a", errors.New("terminating"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	onlyFailed := batchv1.JobSpec{PodReplacementPolicy: new(batchv1.Failed)}
	for _, test := range []struct {
		name string
		job  batchv1.Job
		plan plan.Plan
		err  error
		want string
	}{
		{"first", batchv1.Job{}, plan.Plan{}, nil, "reason=new,status=succeeded"},
		{"refused", batchv1.Job{}, plan.Plan{}, apierrors.NewForbidden(pods, "a", errors.New("quota")), "reason=new,status=failed"},
		{"after a failure", batchv1.Job{}, plan.Plan{Failed: 1}, nil, "reason=recreate_terminating_or_failed,status=succeeded"},
		{"beside a terminating one", batchv1.Job{}, plan.Plan{Terminating: 1}, nil, "reason=recreate_terminating_or_failed,status=succeeded"},
		{"not as the status has it", batchv1.Job{Status: batchv1.JobStatus{Terminating: new(int32(1))}}, plan.Plan{}, nil, "reason=new,status=succeeded"},
		{"only failed, after a failure", batchv1.Job{Spec: onlyFailed}, plan.Plan{Failed: 1}, nil, "reason=recreate_failed,status=succeeded"},
		{"only failed, first", batchv1.Job{Spec: onlyFailed}, plan.Plan{}, nil, "reason=new,status=succeeded"},
		{"there already", batchv1.Job{}, plan.Plan{}, apierrors.NewAlreadyExists(pods, "a"), ""},
		{"terminating namespace", batchv1.Job{}, plan.Plan{}, terminating, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := fixtures.NewCounted(t)
			m.Created(&test.job, &test.plan, test.err)
			want := map[string]float64{}
			if test.want != "" {
				want["job_pods_creation_total{"+test.want+"}"] = 1
			}
			m.Expect(t, want)
		})
	}
}

func TestWritten(t *testing.T) {
	end := func(kind batchv1.JobConditionType, reason string) []batchv1.JobCondition {
		return []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue, Reason: reason}}
	}
	indexed := batchv1.JobSpec{CompletionMode: new(batchv1.IndexedCompletion), Completions: new(int32(10))}
	perIndex := indexed
	perIndex.BackoffLimitPerIndex = new(int32(1))
	for _, test := range []struct {
		name        string
		spec        batchv1.JobSpec
		old, stored batchv1.JobStatus
		want        map[string]float64
	}{
		{name: "nothing new", old: batchv1.JobStatus{Succeeded: 3, Failed: 2}, stored: batchv1.JobStatus{Succeeded: 3, Failed: 2}, want: map[string]float64{}},
		{
			name: "pods", old: batchv1.JobStatus{Succeeded: 3, Failed: 2}, stored: batchv1.JobStatus{Succeeded: 5, Failed: 3},
			want: map[string]float64{
				"job_pods_finished_total{completion_mode=NonIndexed,result=succeeded}": 2,
				"job_pods_finished_total{completion_mode=NonIndexed,result=failed}":    1,
			},
		},
		{
			name: "interim condition", stored: batchv1.JobStatus{Conditions: end(batchv1.JobFailureTarget, batchv1.JobReasonPodFailurePolicy)},
			want: map[string]float64{},
		},
		{
			name: "failed", stored: batchv1.JobStatus{Conditions: end(batchv1.JobFailed, batchv1.JobReasonPodFailurePolicy)},
			want: map[string]float64{"jobs_finished_total{completion_mode=NonIndexed,reason=PodFailurePolicy,result=failed}": 1},
		},
		{
			name: "completed", stored: batchv1.JobStatus{Conditions: end(batchv1.JobComplete, batchv1.JobReasonCompletionsReached)},
			want: map[string]float64{"jobs_finished_total{completion_mode=NonIndexed,reason=CompletionsReached,result=succeeded}": 1},
		},
		{
			name: "with a reason of somebody else", stored: batchv1.JobStatus{Conditions: end(batchv1.JobFailed, "BecauseISaySo")},
			want: map[string]float64{"jobs_finished_total{completion_mode=NonIndexed,reason=other,result=failed}": 1},
		},
		{
			name: "condition that is not so", stored: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionFalse}}},
			want: map[string]float64{},
		},
		{
			name: "finished before", old: batchv1.JobStatus{Conditions: end(batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded)},
			stored: batchv1.JobStatus{Conditions: end(batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded)}, want: map[string]float64{},
		},
		{
			name: "indexes", spec: indexed, old: batchv1.JobStatus{Succeeded: 2, CompletedIndexes: "0,4"},
			stored: batchv1.JobStatus{Succeeded: 5, CompletedIndexes: "0,3-6"},
			want: map[string]float64{
				"job_pods_finished_total{completion_mode=Indexed,result=succeeded}": 3,
				"job_finished_indexes_total{backoffLimit=global,status=succeeded}":  3,
			},
		},
		{
			name: "indexes above lower completions", spec: indexed, old: batchv1.JobStatus{Succeeded: 3, CompletedIndexes: "8-10"},
			stored: batchv1.JobStatus{Succeeded: 3, CompletedIndexes: "7-9"},
			want: map[string]float64{
				"job_pods_finished_total{completion_mode=Indexed,result=succeeded}": 1,
				"job_finished_indexes_total{backoffLimit=global,status=succeeded}":  1,
			},
		},
		{
			name: "failed indexes", spec: perIndex, old: batchv1.JobStatus{FailedIndexes: new(""), Failed: 1},
			stored: batchv1.JobStatus{FailedIndexes: new("1,3-5"), CompletedIndexes: "2", Failed: 6},
			want: map[string]float64{
				"job_pods_finished_total{completion_mode=Indexed,result=succeeded}":  1,
				"job_pods_finished_total{completion_mode=Indexed,result=failed}":     5,
				"job_finished_indexes_total{backoffLimit=perIndex,status=succeeded}": 1,
				"job_finished_indexes_total{backoffLimit=perIndex,status=failed}":    4,
			},
		},
		{
			name: "counters that go back", spec: perIndex, old: batchv1.JobStatus{Failed: 3, CompletedIndexes: "0-5", FailedIndexes: new("6")},
			stored: batchv1.JobStatus{Failed: 1, CompletedIndexes: "0"}, want: map[string]float64{},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := fixtures.NewCounted(t)
			m.Written(&batchv1.Job{Spec: test.spec, Status: test.old}, &batchv1.Job{Spec: test.spec, Status: test.stored})
			m.Expect(t, test.want)
		})
	}
}

func TestPodSeen(t *testing.T) {
	made := plan.Next(plan.Observation{Job: fixtures.OwnJob(nil), Now: time.Now(), Current: true}).Create[0]
	pod := func(phase corev1.PodPhase, finalizers ...string) *corev1.Pod {
		p := made.DeepCopy()
		p.Status.Phase, p.Finalizers = phase, finalizers
		return p
	}
	foreign := fixtures.FailedPod("foreign", 1)
	foreign.Finalizers = []string{batchv1.JobTrackingFinalizer}
	held, running := pod(corev1.PodFailed, batchv1.JobTrackingFinalizer), pod(corev1.PodRunning, batchv1.JobTrackingFinalizer)
	for _, test := range []struct {
		name     string
		old, pod *corev1.Pod
		want     string
	}{
		{"appears terminated", nil, held, "add"},
		{"appears succeeded", nil, pod(corev1.PodSucceeded, batchv1.JobTrackingFinalizer), "add"},
		{"appears running", nil, running, ""},
		{"terminates", running, held, "add"},
		{"changes", held, held, ""},
		{"is released", held, pod(corev1.PodFailed, "another/finalizer"), "delete"},
		{"vanishes", held, nil, "delete"},
		{"vanishes released", pod(corev1.PodFailed), nil, ""},
		{"terminates and is released at once", running, pod(corev1.PodFailed), ""},
		{"is not ours", nil, foreign, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := fixtures.NewCounted(t)
			m.PodSeen(test.old, test.pod)
			want := map[string]float64{}
			if test.want != "" {
				want[fmt.Sprintf("terminated_pods_tracking_finalizer_total{event=%s}", test.want)] = 1
			}
			m.Expect(t, want)
		})
	}
}
