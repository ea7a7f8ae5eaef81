package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// TestDecisionsOutliveVolatileRules tests that if volatile rules are gone when the controller restarts, no decisions are
// left for the Job's own rules.
func TestDecisionsOutliveVolatileRules(t *testing.T) {
	job := nonIndexed(9, 4).started().policy()
	o := seen(job, 5000, podOf(job, 0, 0).exited(codeFailJob, 5), podOf(job, 1, 0).exited(codeFailJob, 5))
	o.Volatile, o.Judge = true, customRules{codeFailJob: ignoring()}.judge
	o = carriedOut(t, o)
	for _, p := range o.Pods {
		if p.Status.Phase == corev1.PodFailed && len(p.Finalizers) > 0 {
			t.Errorf("%s is held", p.Name)
		}
	}
	o.Volatile, o.Judge = false, judged
	if o = carriedOut(t, o); hasCondition(o.Job, batchv1.JobFailureTarget) {
		t.Errorf("the status is %s", statusText(o.Job))
	}
}

// TestPastRetryDelay tests that a released pod keeps the delay of the rule that decided on it.
func TestPastRetryDelay(t *testing.T) {
	job := nonIndexed(9, 1).started().replaceFailed()
	o := seen(job, 6, podOf(job, 0, 0).exited(51, 5))
	o.Volatile, o.Judge = true, customRules{51: ignoring()}.judge
	o = carriedOut(t, o)
	o.Judge, o.Now = customRules{51: ignoring().after(time.Hour)}.judge, at(20).Time
	if p := planned(t, o); len(p.Create) != 1 {
		t.Errorf("%v are created, it looks again after %v", podNames(p.Create), p.LookAgain)
	}
}

// TestPastVerdicts tests that the record of a pod that is about to lose its finalizer does not change.
func TestPastVerdicts(t *testing.T) {
	job := perIndex(9, 1, 9).started().replaceFailed().status(func(s *batchv1.JobStatus) { s.Failed = 1 })
	failed := podOf(job, 0, 0).exited(51, 5)
	job = job.ledger(ledgerText(failed))
	for name, rules := range map[string]customRules{
		"FailIndex": {51: customRule{action: failIndex}}, "a budget": {51: ignoring().upTo(1, v1alpha1.PerJob, count)},
	} {
		t.Run(name, func(t *testing.T) {
			o := seen(job, 6, failed, podOf(job, 0, 1).ready())
			o.Volatile, o.Judge = true, rules.judge
			o = carriedOut(t, o)
			if o.Job.Status.Failed != 1 || *o.Job.Status.FailedIndexes != "" || strings.Contains(statusText(o.Job), "budgets") {
				t.Errorf("the status is %s", statusText(o.Job))
			}
		})
	}
}

// TestReplacedPodEndsNoIndex tests that changed rules do not fail an index whose failed pod has a successor: the
// successor's outcome counts, even if the Job fails meanwhile.
func TestReplacedPodEndsNoIndex(t *testing.T) {
	job, limited := perIndex(1, 1, 0).started().replaceFailed(), perIndex(1, 1, 0).started().replaceFailed().backoffLimit(0)
	ignored := podOf(job, 0, 0).failures(0).exited(51, 5)
	next := func() podBuilder { return podOf(job, 0, 1).failures(0).ready() }
	none, first := failedIndexes(new("")), failedIndexes(new("0"))
	for name, test := range map[string]struct {
		job   jobBuilder
		rules customRules // current rules; earlier ones ignored the first pod
		next  podBuilder  // its successor
		later podBuilder  // the same once the first Plan is executed
		want  func(*batchv1.JobStatus) string
	}{
		"it runs":                     {job, nil, next(), next(), all(conditions(), numbers(1, 0, 1), none)},
		"and FailIndex is the action": {job, customRules{51: {action: failIndex}}, next(), next(), all(conditions(), numbers(1, 0, 1), none)},
		"it succeeds": {job, nil, next(), next().exited(0, 9),
			all(conditions("SuccessCriteriaMet/CompletionsReached", "Complete/CompletionsReached"), completed("0"), none)},
		"it succeeds while the Job fails": {limited, nil, next(), next().exited(0, 9),
			all(conditions("FailureTarget/BackoffLimitExceeded", "Failed/BackoffLimitExceeded"), completed("0"), none)},
		"it fails": {job, nil, next(), next().exited(1, 9), all(conditions("FailureTarget/FailedIndexes", "Failed/FailedIndexes"), numbers(0, 0, 2), first)},
		"it was dismissed": {job, nil, next().deleted(8).released(), next().exited(0, 9).deleted(8).released(),
			all(conditions("FailureTarget/FailedIndexes", "Failed/FailedIndexes"), numbers(0, 0, 1), first)},
	} {
		t.Run(name, func(t *testing.T) {
			o := seen(test.job, 10, ignored, test.next)
			o.Volatile, o.Judge = true, test.rules.judge
			if p := planned(t, o); p.Write != nil {
				o.Job = p.Write
			}
			o.Pods[1] = test.later.p
			if wrong := test.want(&carriedOut(t, o).Job.Status); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

// TestDonorsAreNotRecorded tests that the ledger does not count a failure that the status does not count yet: that of a
// pod that waits for its replacement.
func TestDonorsAreNotRecorded(t *testing.T) {
	job := perIndex(9, 2, 9).started().replaceFailed().ledger(`{"budgets":{"gpu/code-52":{"matches":2}}}`)
	o := seen(job, 6, podOf(job, 0, 0).exited(51, 5), podOf(job, 1, 1).matched(once).exited(1, 5))
	o.Volatile = true
	o.Judge = customRules{51: counting().upTo(3, v1alpha1.PerIndex, failIndex), 52: ignoring().upTo(3, v1alpha1.PerJob, count)}.judge
	for _, second := range []int{6, 600} {
		o.Now = at(second).Time
		o = carriedOut(t, o)
		if p := Next(o); len(p.Problems) > 0 || !strings.Contains(ledgerIn(&o.Job.Status), `"gpu/code-52":{"matches":2}`) {
			t.Errorf("after %d s: problems are %v, the status is %s", second, p.Problems, statusText(o.Job))
		}
	}
	if o.Job.Status.Failed != 2 {
		t.Errorf("the status is %s", statusText(o.Job))
	}
}

// TestPendingPodFinishes tests that a pod deleted because it did not start finished at its deletion, because it was never
// ready.
func TestPendingPodFinishes(t *testing.T) {
	job := nonIndexed(9, 1).started().replaceFailed()
	p := podOf(job, 0, 0).deleted(600).with(func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodFailed
		p.Status.Conditions = []corev1.PodCondition{
			{
				Type: v1alpha1.FailingToStart, Status: corev1.ConditionTrue, LastTransitionTime: at(600),
				Message: "Pod " + p.Namespace + "/" + p.Name + " matching Ignore rule slow of PodFailurePolicy start",
			},
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: at(1)},
		}
		// The kubelet's status for a container that it never started.
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 51}},
		}}
	})
	o := seen(job, 630, p)
	o.Judge = customRules{51: ignoring().after(5 * time.Minute)}.judge
	if plan := planned(t, o); len(plan.Create) > 0 || plan.LookAgain != 270*time.Second {
		t.Errorf("%v are created, it looks again after %v", podNames(plan.Create), plan.LookAgain)
	}
}

// TestLostPodCountsOnce tests that a pod on a lost node that a rule ended counts once, both while its containers seem to
// run and when it is gone. With podReplacementPolicy Failed its replacement comes afterwards, and otherwise only one is
// created.
func TestLostPodCountsOnce(t *testing.T) {
	for _, job := range []jobBuilder{indexed(1, 1).started().replaceFailed(), indexed(1, 1).started()} {
		replaceFailed := *job.j.Spec.PodReplacementPolicy == batchv1.Failed
		p := podOf(job, 0, 0).ready().deleted(5).with(func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
		})
		o := seen(job, 6, p)
		created := []string{}
		look := func(second int, pods ...*corev1.Pod) {
			o.Now, o.Pods = at(second).Time, pods
			created = append(created, podNames(planned(t, o).Create)...)
			o = carriedOut(t, o)
		}
		look(100, p.p)
		if n := len(created); n > 0 == replaceFailed {
			t.Errorf("replaceFailed %t: %v are created while it is terminating", replaceFailed, created)
		}
		p.with(func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodFailed
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
				Type: v1alpha1.Lost, Status: corev1.ConditionTrue, LastTransitionTime: at(400),
				Message: "Pod " + p.Namespace + "/" + p.Name + " matching Count rule lost of PodFailurePolicy lost",
			})
		})
		next := podOf(job, 0, 1).ready().p
		pods := []*corev1.Pod{p.p}
		if !replaceFailed {
			pods = append(pods, next)
		}
		look(1000, pods...)
		look(1001, next, p.released().p)
		look(1100, next)
		if o.Job.Status.Failed != 1 || o.Job.Status.Active != 1 || len(created) != 1 {
			t.Errorf("replaceFailed %t: %v are created, the status is %s", replaceFailed, created, statusText(o.Job))
		}
	}
}

// TestLastAttemptIsKept tests that a slot's last attempt is kept until it is replaced, because the next number comes from
// it.
func TestLastAttemptIsKept(t *testing.T) {
	job := nonIndexed(9, 1).started().replaceFailed().annotated(FailedPodsLimitAnnotation, "0")
	o := seen(job, 6, podOf(job, 0, 0).exited(51, 4), podOf(job, 0, 1).exited(51, 5))
	o.Volatile, o.Judge = true, customRules{51: counting()}.judge
	if got := slotsAndAttempts(o.Job, planned(t, o).Delete); !slices.Equal(got, []string{"0/0"}) {
		t.Errorf("%v are deleted", got)
	}
	o.Pods = append(o.Pods, podOf(job, 0, 2).ready().p)
	if got := slotsAndAttempts(o.Job, planned(t, o).Delete); !slices.Equal(got, []string{"0/0", "0/1"}) {
		t.Errorf("with a successor %v are deleted", got)
	}
}

// TestTerminatingCarrierStaysFailed tests that a pod that carries matches, and counts as failed although it could still
// succeed, stays failed.
func TestTerminatingCarrierStaysFailed(t *testing.T) {
	job := indexed(1, 1).started()
	terminating := podOf(job, 0, 1).matched(once).ready().deleted(5)
	o := seen(job, 6, terminating)
	o = carriedOut(t, o)
	if o.Job.Status.Failed != 1 {
		t.Fatalf("the status is %s", statusText(o.Job))
	}
	o.Pods = []*corev1.Pod{terminating.exited(0, 7).p}
	if o = carriedOut(t, o); o.Job.Status.Failed != 1 || o.Job.Status.Succeeded != 0 {
		t.Errorf("the status is %s", statusText(o.Job))
	}
}

// carriedOut returns the observation after Plans have been executed until no calls are left.
func carriedOut(t *testing.T, o Observation) Observation {
	t.Helper()
	const enough = 20
	for range enough {
		p := planned(t, o)
		if p.Write == nil && len(p.Release)+len(p.Create) == 0 {
			return o
		}
		if p.Write != nil {
			o.Job = p.Write
		}
		var pods []*corev1.Pod
		for _, pod := range o.Pods {
			if slices.Contains(p.Release, pod) {
				pod = pod.DeepCopy()
				pod.Finalizers = withoutTracking(pod.Finalizers)
			}
			pods = append(pods, pod)
		}
		for _, created := range p.Create {
			created.UID = "uid-" + created.UID
			created.Status.Phase = corev1.PodRunning
			pods = append(pods, created)
		}
		o.Pods = pods
	}
	t.Fatalf("there is no end to it: %+v", Next(o))
	return o
}
