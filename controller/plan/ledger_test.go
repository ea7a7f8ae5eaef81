package plan

import (
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// TestLostLedger tests that a ledger that is missing, or that this program cannot read, never restarts a budget: the
// status's counters show that there was one.
func TestLostLedger(t *testing.T) {
	b := nonIndexed(9, 2).started().backoffLimit(20).status(func(s *batchv1.JobStatus) { s.Failed = 3 })
	unreadable := func(reason, text string) jobBuilder {
		return b.condition(LedgerCondition, corev1.ConditionTrue, reason, text)
	}
	for name, test := range map[string]struct {
		job              jobBuilder
		lost, unreadable bool
	}{
		"gone":               {b, true, false},
		"garbage":            {unreadable(ledgerFormat, "{"), true, true},
		"empty":              {unreadable(ledgerFormat, ""), true, true},
		"negative":           {unreadable(ledgerFormat, `{"failed":-7}`), true, true},
		"billions":           {unreadable(ledgerFormat, `{"failed":2000000000}`), true, true},
		"another type":       {unreadable(ledgerFormat, `{"releasing":"x"}`), true, true},
		"no failures":        {unreadable(ledgerFormat, `{"backoff":{"failures":0,"last":"2026-03-01T12:00:00Z"}}`), true, true},
		"no time":            {unreadable(ledgerFormat, `{"backoff":{"failures":7,"last":null}}`), true, true},
		"another format":     {unreadable("FormatV2", `{"failed":3}`), true, true},
		"nothing counted":    {unreadable("FormatV2", `{"budgets":{}}`).status(func(s *batchv1.JobStatus) { s.Failed = 0 }), true, true},
		"one failure more":   {b.ledger(`{"failed":4}`), true, true},
		"more by UID":        {b.ledger(`{"failed":2,"releasing":["a","b"]}`), true, true},
		"as it was":          {b.ledger(`{"failed":3}`), false, false},
		"a pod has vanished": {b.ledger(`{"failed":2}`), false, false},
		"lost before":        {b.ledger(`{"failed":3,"lost":true}`), true, false},
		"an annotation":      {b.annotated(earlierLedger, `{"failed":3}`), true, false},
		"and an older one":   {b.annotated(earlierLedger, `{}`).ledger(`{"failed":3}`), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := seen(test.job, 60, podOf(b, 0, 1).exited(51, 5))
			o.Judge = customRules{51: ignoring().upTo(2, v1alpha1.PerJob, count)}.judge
			p := planned(t, o)
			problem := slices.ContainsFunc(p.Problems, func(err error) bool {
				return strings.Contains(err.Error(), "status.conditions[podverdict.io/Ledger].message")
			})
			if problem != test.unreadable {
				t.Errorf("problems are %v", p.Problems)
			}
			if told := slices.ContainsFunc(p.Events, func(e Event) bool { return e.Reason == ReasonLedgerLost }); told != test.lost && name != "lost before" {
				t.Errorf("events are %v", p.Events)
			}
			if p.Write == nil {
				t.Fatal("nothing is written")
			}
			o.Job = p.Write
			p = Next(o)
			if used := p.UsedUp[o.Pods[0].UID]; used.IsUsedUp() != test.lost {
				t.Errorf("the verdict is %+v, ledger %s", used, ledgerIn(&o.Job.Status))
			}
			if told := slices.ContainsFunc(p.Events, func(e Event) bool { return e.Reason == ReasonLedgerLost }); told {
				t.Error("it is told again")
			}
			if p.Write != nil {
				o.Job = p.Write
			}
			counted := o.Job.Status.Failed
			if counted < test.job.j.Status.Failed {
				t.Errorf("status.failed is %d", counted)
			}
			o.Pods = append(o.Pods, podOf(b, 2, 0).exited(1, 6).p)
			if p = planned(t, o); p.Write == nil || p.Write.Status.Failed != counted+1 {
				t.Errorf("the next failure does not count: %d after %d", p.Write.Status.Failed, counted)
			}
		})
	}
}

// TestLostSuccesses tests that the slots of a Job without indexes that had succeeded when its ledger was lost do not run
// again.
func TestLostSuccesses(t *testing.T) {
	b := nonIndexed(9, 9).started().status(func(s *batchv1.JobStatus) { s.Succeeded = 5 })
	o := seen(b, 60, podOf(b, 1, 0), podOf(b, 3, 0).exited(1, 5), podOf(b, 6, 1).exited(0, 5).released(), podOf(b, 8, 0).exited(0, 5).released())
	o.Job = planned(t, o).Write
	if text := ledgerIn(&o.Job.Status); !strings.Contains(text, `"succeeded":"0,2,4,6,8"`) || !strings.Contains(text, `"lost":true`) {
		t.Errorf("the ledger is %s", text)
	}
	o.Now = at(600).Time
	if got := slotsAndAttempts(o.Job, Next(o).Create); !slices.Equal(got, []string{"3/1", "5/0", "7/0"}) {
		t.Errorf("created are %v: 5 have succeeded, and slot 1 is at work", got)
	}
	if s := o.Job.Status; s.Succeeded != 5 {
		t.Errorf("status.succeeded is %d", s.Succeeded)
	}
}

// TestLostBillions tests a counter of the status with the API's highest value.
func TestLostBillions(t *testing.T) {
	const most = 1<<31 - 1
	b := nonIndexed(most, most).started().status(func(s *batchv1.JobStatus) { s.Succeeded = most - 1 })
	if got := len(planned(t, seen(b, 60)).Create); got != 1 {
		t.Errorf("%d pods are created", got)
	}
}

// TestHandedOver tests that an earlier program may have released pods that the status's counters do not show, within a
// budget. A Job that was copied with its annotations has no such pods.
func TestHandedOver(t *testing.T) {
	copied := nonIndexed(2, 1).annotated(earlierLedger, `{"failed":3}`)
	for name, test := range map[string]struct {
		job  jobBuilder
		lost bool
	}{
		"copied":    {copied, false},
		"begun":     {copied.started(), true},
		"suspended": {copied.suspended().condition(batchv1.JobSuspended, corev1.ConditionTrue, "JobSuspended", "Job suspended"), true},
	} {
		t.Run(name, func(t *testing.T) {
			p := planned(t, seen(test.job, 60))
			if p.Write == nil || p.Write.Annotations[earlierLedger] != "" || p.Urgent != test.lost {
				t.Fatalf("urgent is %t, written is %+v", p.Urgent, p.Write)
			}
			if lost := strings.Contains(ledgerIn(&p.Write.Status), `"lost":true`); lost != test.lost {
				t.Errorf("the ledger is %s", ledgerIn(&p.Write.Status))
			}
		})
	}
}
