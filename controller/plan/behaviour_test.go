package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// want has the expectations for a Plan; nil fields are not checked.
type want struct {
	create    []string // slot/attempt
	dismiss   []string
	del       []string
	release   []string
	status    func(*batchv1.JobStatus) string // returns the error in the new status
	lookAgain int                             // seconds
	events    []string                        // reasons
	ledger    string                          // text of the ledger; "-" means none
	urgent    bool                            // the next Plan must wait for the write
}

type behaviour struct {
	name   string // includes the item of the semantics
	job    jobBuilder
	pods   []podBuilder
	second int
	want   want
	rules  customRules // or nil
}

func (b behaviour) run(t *testing.T) {
	t.Helper()
	o := seen(b.job, b.second, b.pods...)
	if b.rules != nil {
		o.Judge = b.rules.judge
	}
	p := planned(t, o)
	for what, lists := range map[string][2][]string{
		"Create":  {b.want.create, slotsAndAttempts(o.Job, p.Create)},
		"Dismiss": {b.want.dismiss, slotsAndAttempts(o.Job, p.Dismiss)},
		"Delete":  {b.want.del, slotsAndAttempts(o.Job, p.Delete)},
		"Release": {b.want.release, slotsAndAttempts(o.Job, p.Release)},
	} {
		slices.Sort(lists[1])
		if !slices.Equal(lists[0], lists[1]) {
			t.Errorf("%s is %v, want %v", what, lists[1], lists[0])
		}
	}
	if b.want.status != nil {
		status := o.Job.Status
		if p.Write != nil {
			status = p.Write.Status
		}
		if wrong := b.want.status(&status); wrong != "" {
			t.Errorf("the status is %+v: %s", status, wrong)
		}
	}
	if got := ledgerOf(o.Job, p); b.want.ledger != "" && got != strings.Trim(b.want.ledger, "-") {
		t.Errorf("the ledger is\n%s, want\n%s", got, b.want.ledger)
	}
	if b.want.urgent && !p.Urgent {
		t.Error("the write is not urgent")
	}
	if got := int(p.LookAgain.Seconds()); got != b.want.lookAgain {
		t.Errorf("LookAgain is %d s, want %d s", got, b.want.lookAgain)
	}
	var reasons []string
	for _, e := range p.Events {
		reasons = append(reasons, e.Reason)
	}
	if !slices.Equal(reasons, b.want.events) {
		t.Errorf("events are %v, want %v", reasons, b.want.events)
	}
}

// ledgerOf returns the text of the Job's ledger after a Plan.
func ledgerOf(j *batchv1.Job, p Plan) string {
	if p.Write != nil {
		j = p.Write
	}
	return ledgerIn(&j.Status)
}

// ledgerIn returns the text of a Job's ledger, or the empty string if the Job has none.
func ledgerIn(status *batchv1.JobStatus) string {
	if c := condition(status.Conditions, LedgerCondition); c != nil {
		return c.Message
	}
	return ""
}

func runAll(t *testing.T, tests []behaviour) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, test.run)
	}
}

// numbers expects these counters.
func numbers(active, succeeded, failed int32) func(*batchv1.JobStatus) string {
	return func(s *batchv1.JobStatus) string {
		return cmp.Diff([]int32{active, succeeded, failed}, []int32{s.Active, s.Succeeded, s.Failed})
	}
}

// terminating expects this number of terminating pods.
func terminating(number int32) func(*batchv1.JobStatus) string {
	return func(s *batchv1.JobStatus) string { return cmp.Diff(&number, s.Terminating) }
}

// completed and failedIndexes expect index texts.
func completed(text string) func(*batchv1.JobStatus) string {
	return func(s *batchv1.JobStatus) string { return cmp.Diff(text, s.CompletedIndexes) }
}

func failedIndexes(text *string) func(*batchv1.JobStatus) string {
	return func(s *batchv1.JobStatus) string { return cmp.Diff(text, s.FailedIndexes) }
}

// conditions expects these true conditions, in order, as Type/Reason. It ignores the ledger.
func conditions(texts ...string) func(*batchv1.JobStatus) string {
	return func(s *batchv1.JobStatus) string {
		var found []string
		for _, c := range s.Conditions {
			if c.Status == corev1.ConditionTrue && c.Type != LedgerCondition {
				found = append(found, string(c.Type)+"/"+c.Reason)
			}
		}
		return cmp.Diff(texts, found)
	}
}

func all(checks ...func(*batchv1.JobStatus) string) func(*batchv1.JobStatus) string {
	return func(s *batchv1.JobStatus) string {
		wrong := ""
		for _, check := range checks {
			wrong += check(s)
		}
		return wrong
	}
}

func TestPodsKeptRunning(t *testing.T) {
	ni, ix, pi := nonIndexed(5, 2).started(), indexed(5, 2).started(), perIndex(5, 3, 1)
	beyond := indexed(1, 1).started().status(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "2", 1 })
	runAll(t, []behaviour{
		{name: "NonIndexed starts", job: nonIndexed(5, 2),
			want: want{create: []string{"0/0", "1/0"}, status: numbers(0, 0, 0), events: []string{ReasonJobStart}}},
		{name: "work queue starts", job: workQueue(3), want: want{create: []string{"0/0", "1/0", "2/0"}, events: []string{ReasonJobStart}}},
		{name: "an index that succeeded is not run again", job: ix.status(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "0-2", 3 }),
			want: want{create: []string{"3/0", "4/0"}, status: all(numbers(0, 3, 0), completed("0-2"))}},
		{name: "parallelism 0 takes all pods away", job: nonIndexed(5, 0).started(), pods: []podBuilder{podOf(ni, 0, 0).ready()},
			want: want{dismiss: []string{"0/0"}, status: all(numbers(0, 0, 0), terminating(1))}},
		{name: "elastic: what succeeded beyond completions is let go before the status forgets it", job: beyond,
			pods: []podBuilder{podOf(ix, 0, 0).ready(), podOf(ix, 2, 0).exited(0, 1)}, want: want{release: []string{"2/0"}, status: all(completed("2"), numbers(0, 1, 0))}},
		{name: "0 completions are reached at once", job: indexed(0, 0),
			want: want{status: conditions("SuccessCriteriaMet/CompletionsReached"), events: []string{ReasonJobStart}}},
		{name: "two pods of an index: the one that got less far goes", job: ix, pods: []podBuilder{podOf(ix, 0, 0).ready(), podOf(ix, 0, 1)},
			want: want{dismiss: []string{"0/1"}}},
		{name: "a pod without an index goes", job: ix,
			pods: []podBuilder{podOf(ix, 0, 0).name("stray").annotated(batchv1.JobCompletionIndexAnnotation, "many")},
			want: want{dismiss: []string{"stray"}, create: []string{"0/0"}}},
		{name: "a reason to end makes the deadline void", pods: []podBuilder{podOf(ix, 0, 0).exited(0, 1)},
			job: ix.with(func(j *batchv1.Job) {
				j.Spec.ActiveDeadlineSeconds = new(int64(30))
				j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: new(int32(1))}}}
			}),
			want: want{status: conditions("SuccessCriteriaMet/SuccessPolicy")}},
		{name: "45: what ended is counted, donors too", second: 2,
			job: perIndex(5, 3, 1).started().status(func(s *batchv1.JobStatus) { s.Failed = 1 }).ledger(ledgerText(podOf(pi, 0, 0))).
				with(func(j *batchv1.Job) { j.DeletionTimestamp = new(at(1)) }),
			pods: []podBuilder{podOf(pi, 0, 0).failures(0).exited(1, 1), podOf(pi, 1, 0).failures(0).exited(1, 1)},
			want: want{release: []string{"0/0"}, status: numbers(0, 0, 2)}},
	})
}

func TestSuspension(t *testing.T) {
	ni := nonIndexed(5, 2)
	was := nonIndexed(5, 2).condition(batchv1.JobSuspended, corev1.ConditionTrue, "JobSuspended", "Job suspended")
	runAll(t, []behaviour{
		{name: "43: active pods go uncounted", job: nonIndexed(5, 2).started().suspended(), pods: []podBuilder{podOf(ni, 0, 0).ready(), podOf(ni, 1, 0).exited(1, 0)},
			want: want{dismiss: []string{"0/0"}, events: []string{"Suspended"},
				status: all(conditions("Suspended/JobSuspended"), numbers(0, 0, 1), terminating(1), started(false))}},
		{name: "resumed", job: was, second: 60,
			want: want{create: []string{"0/0", "1/0"}, status: all(conditions(), started(true)), events: []string{"Resumed"}}},
		{name: "resumed with a start time: the deadline counts from now", second: 60,
			job: was.with(func(j *batchv1.Job) {
				j.Status.StartTime, j.Spec.ActiveDeadlineSeconds = new(at(0)), new(int64(30))
			}),
			want: want{create: []string{"0/0", "1/0"}, status: conditions(), events: []string{"Resumed"}, lookAgain: 30}},
		{name: "44: only the deadline is paused", second: 60,
			job: nonIndexed(5, 2).suspended().condition(batchv1.JobSuspended, corev1.ConditionTrue, "JobSuspended", "Job suspended").
				with(func(j *batchv1.Job) {
					j.Status.StartTime, j.Spec.ActiveDeadlineSeconds = new(at(0)), new(int64(30))
				}),
			want: want{status: conditions("Suspended/JobSuspended")}},
		{name: "a suspended Job that fails gets the start time that the API server wants", second: 60,
			job: nonIndexed(5, 2).suspended().condition(batchv1.JobSuspended, corev1.ConditionTrue, "JobSuspended", "Job suspended").
				condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "R", "M"),
			want: want{status: all(conditions("Suspended/JobSuspended", "FailureTarget/R", "Failed/R"), started(true)), events: []string{"R", ReasonJobFinish}}},
	})
}

func started(yes bool) func(*batchv1.JobStatus) string {
	return func(s *batchv1.JobStatus) string { return cmp.Diff(yes, s.StartTime != nil) }
}
