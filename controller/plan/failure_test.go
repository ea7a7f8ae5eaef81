package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// TestFailedPods covers part B of the semantics: when a pod is failed, counted, replaced.
func TestFailedPods(t *testing.T) {
	tof, rf, pfp := nonIndexed(5, 2).started(), nonIndexed(5, 2).started().replaceFailed(), nonIndexed(5, 2).started().policy()
	ix := indexed(5, 2).started()
	old := pfp.with(func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = nil })
	never := pfp.backoffLimit(0)
	runAll(t, []behaviour{
		{name: "30: and so with podReplacementPolicy Failed", job: rf, pods: []podBuilder{podOf(rf, 0, 0).running().deleted(1), podOf(rf, 1, 0).ready()},
			want: want{status: all(numbers(1, 0, 0), terminating(1))}},
		{name: "31: with TerminatingOrFailed it counts and is replaced at once", job: tof, second: 60, pods: []podBuilder{podOf(tof, 0, 0).running().deleted(1), podOf(tof, 1, 0).ready()},
			want: want{create: []string{"0/1"}, status: all(numbers(1, 0, 1), terminating(1), noneUncounted())}},
		{name: "32: and stays failed when it succeeds", second: 60, pods: []podBuilder{podOf(tof, 0, 0).exited(0, 2).deleted(1), podOf(tof, 1, 0).ready()},
			job:  tof.status(func(s *batchv1.JobStatus) { s.Failed = 1 }).ledger(ledgerText(podOf(tof, 0, 0))),
			want: want{release: []string{"0/0"}, create: []string{"0/1"}, status: numbers(1, 0, 1)}},
		{name: "33: a policy without a replacement policy means Failed", job: old, pods: []podBuilder{podOf(old, 0, 0).running().deleted(1), podOf(old, 1, 0).ready()},
			want: want{status: all(numbers(1, 0, 0), terminating(1))}},
		{name: "34: terminating pods keep their indexes and places", job: indexed(5, 3).started().replaceFailed(),
			pods: []podBuilder{podOf(ix, 0, 0).running().deleted(1), podOf(ix, 1, 0).ready()},
			want: want{create: []string{"2/0"}, status: all(numbers(1, 0, 0), terminating(1))}},
		{name: "35: an ignored failure does not count and is replaced", job: never, pods: []podBuilder{podOf(pfp, 0, 0).exited(codeIgnore, 0), podOf(pfp, 1, 0).ready()}, second: 60,
			want: want{create: []string{"0/1"}, status: all(numbers(1, 0, 0), conditions())}},
		{name: "36: but delays as any other", job: never, pods: []podBuilder{podOf(pfp, 0, 0).exited(codeIgnore, 0), podOf(pfp, 1, 0).exited(codeIgnore, 5)}, second: 6,
			want: want{status: numbers(0, 0, 0), lookAgain: 19}},
		{name: "38: nor without a valid index", job: ix, second: 60,
			pods: []podBuilder{podOf(ix, 0, 0).name("a").annotated(batchv1.JobCompletionIndexAnnotation, "x").exited(1, 0),
				podOf(ix, 0, 0).name("b").annotated(batchv1.JobCompletionIndexAnnotation, "-1").exited(1, 0),
				podOf(ix, 0, 0).name("c").annotated(batchv1.JobCompletionIndexAnnotation, "5").exited(1, 0)},
			want: want{create: []string{"0/0", "1/0"}, release: []string{"c"}, status: numbers(0, 0, 0)}},
		{name: "38: a foreign pod with a valid index does count", job: ix, second: 60, pods: []podBuilder{podOf(ix, 0, 0).name("a").exited(1, 0)},
			want: want{create: []string{"0/0", "1/0"}, status: numbers(0, 0, 1)}},
		{name: "39: FailJob is looked for in pods that are counted already", job: pfp, pods: []podBuilder{podOf(pfp, 0, 0).exited(codeFailJob, 0).released()},
			want: want{status: conditions("FailureTarget/PodFailurePolicy")}},
	})
}

// noneUncounted expects no uncounted pods in the status: the ledger has them.
func noneUncounted() func(*batchv1.JobStatus) string {
	return func(s *batchv1.JobStatus) string {
		return cmp.Diff(&batchv1.UncountedTerminatedPods{}, s.UncountedTerminatedPods)
	}
}

// ledgerText returns a ledger that is releasing pods.
func ledgerText(pods ...podBuilder) string {
	var l ledger
	for _, p := range pods {
		l.Releasing = append(l.Releasing, p.p.UID)
	}
	return l.String()
}

// TestFailingJob covers the end of a failing Job: items 40 and 41, with the order of writes that item 73 requires.
func TestFailingJob(t *testing.T) {
	pfp := nonIndexed(5, 3).started().policy()
	failing := pfp.condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "PodFailurePolicy", "M")
	failed := podOf(pfp, 0, 0).exited(codeFailJob, 0)
	counted := failing.status(func(s *batchv1.JobStatus) { s.Failed = 2 }).ledger(ledgerText(podOf(pfp, 1, 0)))
	runAll(t, []behaviour{
		{name: "40: active pods are deleted, held", job: failing, pods: []podBuilder{failed, podOf(pfp, 1, 0).ready()},
			want: want{del: []string{"1/0"}, status: all(numbers(0, 0, 1), terminating(1))}},
		{name: "40: and count", job: failing, pods: []podBuilder{failed, podOf(pfp, 1, 0).running().deleted(1)},
			want: want{status: all(numbers(0, 0, 2), terminating(1), conditions("FailureTarget/PodFailurePolicy"))}},
		{name: "41: one that an Ignore rule matches does not", job: failing, pods: []podBuilder{failed, podOf(pfp, 1, 0).running().disrupted().deleted(1)},
			want: want{release: []string{"1/0"}, status: all(numbers(0, 0, 1), terminating(1))}},
		{name: "73: Failed comes when nothing is terminating, with reason and message", job: counted, pods: []podBuilder{failed},
			want: want{status: all(conditions("FailureTarget/PodFailurePolicy", "Failed/PodFailurePolicy"), numbers(0, 0, 2), message(batchv1.JobFailed, "M")),
				events: []string{"PodFailurePolicy", ReasonJobFinish}}},
		{name: "and a late arrival", job: counted.condition(batchv1.JobFailed, corev1.ConditionTrue, "PodFailurePolicy", "M"), pods: []podBuilder{podOf(pfp, 2, 0).ready()},
			want: want{dismiss: []string{"2/0"}}},
	})
}

func message(kind batchv1.JobConditionType, text string) func(*batchv1.JobStatus) string {
	return func(s *batchv1.JobStatus) string {
		c := condition(s.Conditions, kind)
		if c == nil {
			return "no " + string(kind)
		}
		return cmp.Diff(text, c.Message)
	}
}

// TestLedgerGoes tests that the last write removes the ledger.
func TestLedgerGoes(t *testing.T) {
	b := nonIndexed(5, 2).started().status(func(s *batchv1.JobStatus) { s.Failed = 2 }).ledger(`{"failed":2}`).
		condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "R", "M")
	if c := condition(planned(t, seen(b, 0)).Write.Status.Conditions, LedgerCondition); c != nil {
		t.Errorf("the ledger is %s", c.Message)
	}
}

// TestEndNeedsAllPods tests that a Job does not end while a creation may be missed (item 74).
func TestEndNeedsAllPods(t *testing.T) {
	failing := nonIndexed(5, 2).started().condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "R", "M")
	wq := workQueue(2).started()
	for name, o := range map[string]Observation{
		"Failed":             seen(failing, 0),
		"work queue success": seen(wq, 0, podOf(wq, 0, 0).exited(0, 0)),
	} {
		t.Run(name, func(t *testing.T) {
			o.Current = false
			withheld := planned(t, o)
			if !withheld.NeedsCurrent {
				t.Error("the Plan does not say that it needs to be current")
			}
			o.Current = true
			certain := planned(t, o)
			if ending := condition(withheld.Write.Status.Conditions, "SuccessCriteriaMet"); certain.NeedsCurrent || ending != nil ||
				certain.Write.Status.Conditions[len(certain.Write.Status.Conditions)-1].Reason == ledgerFormat {
				t.Errorf("conditions are %v, and without certainty %v", certain.Write.Status.Conditions, withheld.Write.Status.Conditions)
			}
		})
	}
}

// TestSucceedingJob covers item 42, and the end of a Job that succeeds.
func TestSucceedingJob(t *testing.T) {
	ix := indexed(5, 3).started().with(func(j *batchv1.Job) {
		j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: new("0")}}}
	})
	met := ix.status(func(s *batchv1.JobStatus) { s.Succeeded, s.CompletedIndexes = 1, "0" }).
		condition(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, "SuccessPolicy", "Matched rules at index 0")
	done := podOf(ix, 0, 0).exited(0, 1)
	ni := nonIndexed(1, 1).started()
	runAll(t, []behaviour{
		{name: "SuccessCriteriaMet comes first", job: ix, pods: []podBuilder{done, podOf(ix, 1, 0).ready()},
			want: want{status: all(conditions("SuccessCriteriaMet/SuccessPolicy"), message(batchv1.JobSuccessCriteriaMet, "Matched rules at index 0"), completed("0"), numbers(1, 1, 0))}},
		{name: "42: lingering pods go uncounted", job: met, pods: []podBuilder{done, podOf(ix, 1, 0).ready(), podOf(ix, 2, 0)},
			want: want{dismiss: []string{"1/0", "2/0"}, status: all(numbers(0, 1, 0), terminating(2))}},
		{name: "a clock that was set back does not end the Job before its start", second: -30,
			job:  ni.status(func(s *batchv1.JobStatus) { s.Succeeded = 1 }).condition(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, "R", "M"),
			want: want{status: completionTime(0), events: []string{"Completed", ReasonJobFinish}}},
		{name: "76: but not while a pod is active", job: workQueue(2).started(),
			pods: []podBuilder{podOf(workQueue(2), 0, 0).exited(0, 1), podOf(workQueue(2), 1, 0).ready()}, want: want{status: all(conditions(), numbers(1, 1, 0))}},
		{name: "more successes than completions are told",
			job:  ni.status(func(s *batchv1.JobStatus) { s.Succeeded = 2 }).condition(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, "R", "M"),
			want: want{status: conditions("SuccessCriteriaMet/R", "Complete/R"), events: []string{"TooManySucceededPods", "Completed", ReasonJobFinish}}},
	})
}

func completionTime(second int) func(*batchv1.JobStatus) string {
	return func(s *batchv1.JobStatus) string {
		if s.CompletionTime == nil || !s.CompletionTime.Equal(new(at(second))) {
			return "the completion time is not " + at(second).String()
		}
		return ""
	}
}

// TestLedgerIsBounded covers item 47: the ledger has room for a limited number of pods; the others, and the end, wait.
func TestLedgerIsBounded(t *testing.T) {
	failing := nonIndexed(9, 9).started().condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "R", "M")
	var pods []podBuilder
	for slot := range 5 {
		pods = append(pods, podOf(failing, slot, 0).running().deleted(1))
	}
	o := seen(failing, 2, pods...)
	o.Settings.MaxReleasing = 3
	p := planned(t, o)
	var l ledger
	if l = mustLedger(t, p.Write); len(l.Releasing) != 3 || p.Write.Status.Failed != 5 {
		t.Errorf("the ledger has %d pods, status.failed is %d", len(l.Releasing), p.Write.Status.Failed)
	}
	o.Job = p.Write
	if p = planned(t, o); len(p.Release) != 3 || hasCondition(o.Job, batchv1.JobFailed) {
		t.Errorf("%d pods are released", len(p.Release))
	}
	o.Pods = o.Pods[3:]
	if l = mustLedger(t, planned(t, o).Write); l.Failed != 3 || len(l.Releasing) != 2 {
		t.Errorf("the ledger is %v", l)
	}
}

func mustLedger(t *testing.T, j *batchv1.Job) ledger {
	t.Helper()
	if j == nil {
		t.Fatal("nothing is written")
	}
	l, err := parseLedger(condition(j.Status.Conditions, LedgerCondition), j)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestEndedPodsAreLetGo tests that ended pods are free once their outcome is stored, which can wait; pods beyond the
// limit are released immediately, oldest first.
func TestEndedPodsAreLetGo(t *testing.T) {
	b := nonIndexed(9, 2).started()
	o := seen(b, 100, podOf(b, 0, 0).exited(0, 9), podOf(b, 1, 0).exited(1, 3), podOf(b, 1, 1).exited(1, 5), podOf(b, 2, 0).exited(0, 1))
	for _, test := range []struct {
		maxHeld       int
		urgent        bool
		free, release []string
	}{
		{0, false, []string{"0/0", "1/0", "1/1", "2/0"}, nil},
		{2, false, []string{"0/0", "1/0", "1/1", "2/0"}, nil}, // twice as many are held while there are pods to create
		{1, true, []string{"0/0", "1/1"}, []string{"1/0", "2/0"}},
	} {
		o := o
		o.Settings.MaxHeld = test.maxHeld
		p := planned(t, o)
		if l := mustLedger(t, p.Write); len(l.Releasing) != 2 || l.Succeeded != "0,2" || len(p.Release)+len(p.Free) > 0 || p.Urgent != test.urgent {
			t.Errorf("ledger %v, urgent %v, released %v, free %v", l, p.Urgent, podNames(p.Release), podNames(p.Free))
		}
		o.Job = p.Write
		p = planned(t, o)
		if diff := cmp.Diff([][]string{test.free, test.release}, [][]string{slotsAndAttempts(o.Job, p.Free), slotsAndAttempts(o.Job, p.Release)}); diff != "" {
			t.Errorf("at most %d: %s", test.maxHeld, diff)
		}
		// Deleted pods still count.
		o.Pods = nil
		if p = Next(o); p.Write != nil && (p.Write.Status.Failed != 2 || p.Write.Status.Succeeded != 2) {
			t.Errorf("the status is %s", statusText(p.Write))
		}
	}
}

// TestDonorsAreNotFree tests that an index's last failed pod is held until its successor exists, which inherits its
// failure count.
func TestDonorsAreNotFree(t *testing.T) {
	b := perIndex(2, 2, 3).started()
	o := seen(b, 9, podOf(b, 0, 0).failures(0).exited(1, 5), podOf(b, 1, 0).failures(0).exited(0, 5))
	o.Job = planned(t, o).Write
	p := planned(t, o)
	if diff := cmp.Diff([]string{"1/0"}, slotsAndAttempts(o.Job, p.Free)); diff != "" || len(p.Release) > 0 {
		t.Errorf("free: %s, released %v", diff, podNames(p.Release))
	}
}

func TestFinalizerTakenByHand(t *testing.T) {
	b := nonIndexed(9, 2).started()
	o := seen(b, 100, podOf(b, 0, 0).exited(1, 3), podOf(b, 1, 0).ready())
	o.Job = planned(t, o).Write
	o.Pods[0].Finalizers = nil
	p := planned(t, o)
	if p.Write != nil || len(p.Release)+len(p.Free) > 0 {
		t.Errorf("the plan is %+v", p)
	}
	o.Pods = append(o.Pods, podOf(b, 0, 1).exited(1, 4).p)
	if p = planned(t, o); p.Write.Status.Failed != 2 {
		t.Errorf("%s", statusText(p.Write))
	}
}
