package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/runtime"
)

// named returns a pod as users write it: with a name and a phase, and without the fields that a cluster adds.
func named(name string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Status: corev1.PodStatus{Phase: phase}}
}

func finishedAt(p *corev1.Pod, seconds int) *corev1.Pod {
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: at(seconds)},
	}}}
	return p
}

// TestLook does not cover Kubernetes' controller: the module conformance/upstream compares Look with it.
func TestLook(t *testing.T) {
	managed := func(b jobBuilder) jobBuilder {
		return b.with(func(j *batchv1.Job) { j.Spec.ManagedBy = new(v1alpha1.JobController) })
	}
	limit := Usage{Used: 1, Limit: new(6)}
	for _, test := range []struct {
		name string
		job  jobBuilder
		pods []*corev1.Pod
		want Outlook
	}{
		{"no status", nonIndexed(3, 3), []*corev1.Pod{finishedAt(named("a", corev1.PodFailed), 0), named("b", corev1.PodRunning), named("c", corev1.PodRunning)}, Outlook{
			Failures: limit, Active: 2, Next: &Step{Does: Creates, At: new(at(10)), Pods: 1},
			Unknown: []string{UnknownFailures},
		}},
		{"no status and no pods", nonIndexed(3, 3), nil, Outlook{Failures: Usage{Limit: new(6)}, Next: &Step{Does: Creates, Pods: 3}}},
		{"no times", nonIndexed(1, 1), []*corev1.Pod{named("a", corev1.PodFailed)}, Outlook{
			Failures: limit, Next: &Step{Does: Creates, Pods: 1},
			Unknown: []string{UnknownFailures, UnknownTimes},
		}},
		{"failed pods are gone", nonIndexed(1, 1).started().status(func(s *batchv1.JobStatus) { s.Failed = 1 }), nil, Outlook{
			Failures: limit, Next: &Step{Does: Creates, Pods: 1}, Unknown: []string{UnknownPods},
		}},
		{"active pods are missing", nonIndexed(3, 3).started().status(func(s *batchv1.JobStatus) { s.Failed, s.Active = 1, 2 }),
			[]*corev1.Pod{finishedAt(named("a", corev1.PodFailed), 0), named("b", corev1.PodRunning)}, Outlook{
				Failures: limit, Active: 1, Unknown: []string{UnknownActive},
			}},
		{"a ledger knows them", managed(nonIndexed(1, 1).started().status(func(s *batchv1.JobStatus) { s.Failed = 1 })).
			ledger(`{"failed":1,"backoff":{"failures":1,"last":"2026-03-01T12:00:00Z"}}`), nil, Outlook{
			Failures: limit, Next: &Step{Does: Creates, At: new(at(10)), Pods: 1},
		}},
		{"names by Kubernetes tell nothing", nonIndexed(1, 1).started().status(func(s *batchv1.JobStatus) { s.Active = 1 }),
			[]*corev1.Pod{podOf(nonIndexed(1, 1), 0, 0).exited(0, 1).name("train-x7k2p").p}, Outlook{
				Failures: Usage{Limit: new(6)},
				Next:     &Step{Does: Completes, Reason: "CompletionsReached", Message: "Reached expected number of succeeded pods"},
			}},
		{"managed, without a status", managed(nonIndexed(1, 1)), []*corev1.Pod{finishedAt(named("a", corev1.PodFailed), 0)}, Outlook{
			Failures: limit, Next: &Step{Does: Creates, At: new(at(10)), Pods: 1}, Unknown: []string{UnknownFailures},
		}},
		{"another manager", nonIndexed(1, 1).with(func(j *batchv1.Job) { j.Spec.ManagedBy = new("example.com/queue") }).
			status(func(s *batchv1.JobStatus) { s.Failed = 4 }), nil, Outlook{Failures: Usage{Used: 4}, Unknown: []string{"what example.com/queue does next"}}},
		{"ended", nonIndexed(1, 1).status(func(s *batchv1.JobStatus) { s.Failed = 1 }).condition(batchv1.JobFailed, corev1.ConditionTrue, "PodFailurePolicy", "because"), nil, Outlook{
			Failures: limit, Next: &Step{Does: Failed, Reason: "PodFailurePolicy", Message: "because"},
		}},
		{"ended by us", managed(nonIndexed(1, 1).status(func(s *batchv1.JobStatus) { s.Failed = 1 }).condition(batchv1.JobFailed, corev1.ConditionTrue, "PodFailurePolicy", "because")),
			[]*corev1.Pod{podOf(nonIndexed(1, 1), 0, 0).exited(1, 1).released().p}, Outlook{
				Failures: limit, Next: &Step{Does: Failed, Reason: "PodFailurePolicy", Message: "because"},
			}},
		{"per index", perIndex(2, 2, 0).with(func(j *batchv1.Job) { j.Spec.MaxFailedIndexes = new(int32(5)) }).started().
			status(func(s *batchv1.JobStatus) { s.Failed, s.FailedIndexes = 1, new("1") }), nil, Outlook{
			Failures: Usage{Used: 1}, FailedIndexes: &Usage{1, new(5)}, Next: &Step{Does: Creates, Pods: 1},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Look(Observation{Job: test.job.job(), Pods: test.pods, Now: epoch})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLookAtBudgets(t *testing.T) {
	job := nonIndexed(3, 3).started().with(func(j *batchv1.Job) { j.Spec.ManagedBy = new(v1alpha1.JobController) })
	pods := []*corev1.Pod{podOf(job, 0, 0).exited(1, 0).p, podOf(job, 1, 0).exited(1, 0).p, podOf(job, 2, 0).exited(1, 0).p}
	judge := func(p *corev1.Pod, _ int64, _ func() []cel.Attempt) runtime.Verdict {
		v := runtime.Unmatched(p)
		v.Matched, v.Policy, v.RuleName, v.Action, v.Counted = true, "memory", "oom", batchv1.PodFailurePolicyActionIgnore, false
		v.Budget = runtime.Budget{Limit: 2, Per: v1alpha1.PerJob, Then: batchv1.PodFailurePolicyActionCount}
		return v
	}
	got := Look(Observation{Job: job.job(), Pods: pods, Judge: judge, Now: at(1).Time})
	if diff := cmp.Diff([]BudgetUsage{{"memory", "oom", "Job", Usage{2, new(2)}}}, got.Budgets); diff != "" {
		t.Errorf("budgets (-want +got):\n%s", diff)
	}
	if got.Failures.Used != 1 {
		t.Errorf("%d failures, want the one beyond the budget", got.Failures.Used)
	}
}

// TestLookAtCountedPods tests that Kubernetes' controller also evaluates a podFailurePolicy for counted pods, whatever
// custom policies are bound.
func TestLookAtCountedPods(t *testing.T) {
	job := nonIndexed(1, 1).policy().started().status(func(s *batchv1.JobStatus) { s.Failed = 1 })
	failed := podOf(job, 0, 0).exited(1, 0).released().p
	judge := func(p *corev1.Pod, _ int64, _ func() []cel.Attempt) runtime.Verdict {
		v := runtime.Unmatched(p)
		v.Matched, v.Action = true, batchv1.PodFailurePolicyActionFailJob
		return v
	}
	got := Look(Observation{Job: job.job(), Pods: []*corev1.Pod{failed}, Judge: judge, Volatile: true, Now: at(1).Time})
	if got.Next.Does != Fails {
		t.Errorf("next: %+v", got.Next)
	}
}

// checkOutlook compares the outlook of a managed Job with its Plan.
func (w *world) checkOutlook(o Observation, p Plan) {
	if emptyStatus(&o.Job.Status) {
		return // Look treats all pods as not yet counted
	}
	o.Job = jobBuilder{o.Job}.with(func(j *batchv1.Job) { j.Spec.ManagedBy = new(v1alpha1.JobController) }).j
	o.Pods = slices.DeleteFunc(slices.Clone(o.Pods), func(p *corev1.Pod) bool { return !Controls(o.Job, p) })
	look := Look(o)
	if look.Next == nil {
		return
	}
	if creates := look.Next.Does == Creates && look.Next.At == nil; creates != (len(p.Create) > 0) || creates && look.Next.Pods != len(p.Create) {
		w.fail("the outlook is %+v, and %d pods are created", *look.Next, len(p.Create))
	}
	if look.Next.At != nil && !look.Next.At.Equal(new(metav1.NewTime(o.Now.Add(p.LookAgain)))) {
		w.fail("the outlook is for %v, and the Plan looks again after %v", look.Next.At, p.LookAgain)
	}
	written := o.Job
	if p.Write != nil {
		written = p.Write
	}
	kind, ends := map[StepKind]batchv1.JobConditionType{Fails: batchv1.JobFailureTarget, Completes: batchv1.JobSuccessCriteriaMet}[look.Next.Does]
	lettingGo := p.Write == nil && len(p.Release) > 0 // a success beyond completions, before the status drops it
	if ends && look.Next.At == nil && !p.NeedsCurrent && !lettingGo {
		if c := condition(written.Status.Conditions, kind); c == nil || c.Reason != look.Next.Reason || c.Message != look.Next.Message {
			w.fail("the outlook is %+v, and the condition %+v", *look.Next, c)
		}
	}
}
