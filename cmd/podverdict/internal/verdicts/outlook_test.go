package verdicts

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	controllerplan "github.com/podverdict/podverdict/controller/plan"
)

func TestOutlookText(t *testing.T) {
	now := time.Date(2026, 6, 15, 10, 0, 0, 0, time.UTC)
	in := func(d time.Duration) *metav1.Time { return new(metav1.NewTime(now.Add(d))) }
	used := func(used, limit int) controllerplan.Usage { return controllerplan.Usage{Used: used, Limit: &limit} }
	for _, test := range []struct {
		outlook controllerplan.Outlook
		want    string
	}{
		{controllerplan.Outlook{Failures: used(2, 6), Active: 2, Next: &controllerplan.Step{Does: controllerplan.Creates, At: in(40 * time.Second), Pods: 1}},
			"2 of 6 failures used; next Pod in 40s, 2 Pods are active"},
		{controllerplan.Outlook{Failures: used(0, 6), Next: &controllerplan.Step{Does: controllerplan.Creates, Pods: 3}},
			"0 of 6 failures used; next 3 Pods now"},
		{controllerplan.Outlook{Failures: used(7, 6), Next: &controllerplan.Step{Does: controllerplan.Fails, Reason: "BackoffLimitExceeded"}},
			"7 failures, backoffLimit 6; fails now: BackoffLimitExceeded"},
		{controllerplan.Outlook{Failures: used(1, 6), Deadline: in(20 * time.Second), Next: &controllerplan.Step{Does: controllerplan.Fails, At: in(20 * time.Second), Reason: "DeadlineExceeded"}},
			"1 of 6 failures used, deadline in 20s; fails in 20s: DeadlineExceeded"},
		{controllerplan.Outlook{Failures: controllerplan.Usage{Used: 1}, FailedIndexes: new(used(2, 1)), Next: &controllerplan.Step{Does: controllerplan.Fails, Reason: "MaxFailedIndexesExceeded"}},
			"1 failure, 2 failed indexes, maxFailedIndexes 1; fails now: MaxFailedIndexesExceeded"},
		{controllerplan.Outlook{Failures: used(0, 6), Budgets: []controllerplan.BudgetUsage{{Policy: "memory", Rule: "oom", Usage: used(2, 3)}}, Terminating: 1, Next: &controllerplan.Step{Does: controllerplan.Waits}},
			"0 of 6 failures used, 2 of 3 used of memory/oom; 1 Pod terminates"},
		{controllerplan.Outlook{Failures: used(0, 6), Next: &controllerplan.Step{Does: controllerplan.Waits}}, "0 of 6 failures used; no Pod is to run"},
		{controllerplan.Outlook{Failures: used(0, 6), Next: &controllerplan.Step{Does: controllerplan.Completes, Reason: "SuccessPolicy"}},
			"0 of 6 failures used; completes now: SuccessPolicy"},
		{controllerplan.Outlook{Failures: used(1, 6), Next: &controllerplan.Step{Does: controllerplan.Failed, Reason: "PodFailurePolicy"}},
			"1 of 6 failures used; has failed: PodFailurePolicy"},
		{controllerplan.Outlook{Failures: used(1, 6), Next: &controllerplan.Step{Does: controllerplan.Deleted}}, "1 of 6 failures used; being deleted"},
		{controllerplan.Outlook{Failures: used(1, 6), Unknown: []string{controllerplan.UnknownFailures, controllerplan.UnknownTimes}, Next: &controllerplan.Step{Does: controllerplan.Creates, Pods: 1}},
			"at least 1 of 6 failures used; next Pod now or later"},
	} {
		if got := (JobItem{Outlook: &test.outlook, now: now}).String(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
