//go:build cluster

package install

import (
	"context"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// annotation is the annotation in which the earliest commits keep the ledger.
const annotation = "podverdict.io/ledger"

// handover is the state of a Job that this version takes over.
type handover struct {
	name string
	// failures has the exit codes of the previous attempts at slot 1.
	failures []int32
	// change turns this version's records into those of another version.
	change func(job *batchv1.Job, ledger *batchv1.JobCondition)
	// forgotten is true if the ended Pods are deleted.
	forgotten bool
	// away is true if the next Pods end while no controller runs.
	away bool
	lost bool
}

var handovers = []handover{
	{name: "as-it-was", failures: mixed},
	{name: "as-it-was-without-pods", failures: mixed, forgotten: true, away: true},
	{name: "more-fields", failures: mixed, forgotten: true, away: true, change: func(_ *batchv1.Job, ledger *batchv1.JobCondition) {
		ledger.Message = strings.Replace(ledger.Message, "{", `{"later":{"of":["a newer version"]},`, 1)
	}},
	{name: "newer-format", failures: mixed, lost: true, change: func(_ *batchv1.Job, ledger *batchv1.JobCondition) {
		ledger.Reason, ledger.Message = "FormatV2", `{"books":[1,2]}`
	}},
	{name: "newer-format-without-pods", failures: mixed, lost: true, forgotten: true, change: func(_ *batchv1.Job, ledger *batchv1.JobCondition) {
		ledger.Reason = "FormatV2"
	}},
	{name: "annotation", failures: mixed, lost: true, change: annotate},
	{name: "nothing", failures: mixed, lost: true, change: func(_ *batchv1.Job, ledger *batchv1.JobCondition) { ledger.Type = "example.com/None" }},
}

// mixed is a counted failure, and one within the budget.
var mixed = []int32{1, temporary}

// annotate moves the ledger to the annotation of the earliest commits.
func annotate(job *batchv1.Job, ledger *batchv1.JobCondition) {
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, annotation, ledger.Message)
	job.Status.Conditions = nil
}

// TestBooks hands the records of other versions to this one.
func TestBooks(t *testing.T) {
	w := newShared(t)
	trials := make([][]*trial, len(handovers))
	for i, h := range handovers {
		trials[i] = w.newTrials(t, kinds, 2, h.failures)
	}
	all := slices.Concat(trials...)
	w.run(t, nil, 0, all)
	for i, h := range handovers {
		for _, r := range trials[i] {
			w.rewrite(t, h, r)
			if h.away {
				r.leg.Store(1)
			}
		}
		if h.forgotten {
			w.deleteEnded(t, trials[i][0].namespace)
		}
	}
	w.run(t, nil, 1, all)
	for i, h := range handovers {
		t.Run(h.name, func(t *testing.T) {
			for _, r := range trials[i] {
				w.check(t, r)
				w.checkBooks(t, h, r)
			}
		})
	}
}

// rewrite changes a Job while no controller runs.
func (w *shared) rewrite(t *testing.T, h handover, r *trial) {
	t.Helper()
	jobs := w.Client.BatchV1().Jobs(r.namespace)
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		job, err := jobs.Get(t.Context(), r.name(), metav1.GetOptions{})
		if err != nil || h.change == nil {
			return err
		}
		for i, c := range job.Status.Conditions {
			if c.Type == plan.LedgerCondition {
				h.change(job, &job.Status.Conditions[i])
				_, err = jobs.UpdateStatus(t.Context(), job, metav1.UpdateOptions{})
				return err
			}
		}
		t.Fatalf("Job %s has no ledger: %+v", r.name(), job.Status)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkBooks checks that nothing is forgotten, and that budgets allow no more matches than are known to be left.
func (w *shared) checkBooks(t *testing.T, h handover, r *trial) {
	t.Helper()
	if told := w.losses(t, r, h.lost); told > 1 || (told == 1) != h.lost {
		t.Errorf("%s: %d events tell the loss, which is one: %t", r.name(), told, h.lost)
	}
	if !r.fails {
		return
	}
	want := len(h.failures) + 1
	if !h.lost {
		want += limit - used(h.failures)
	}
	if got := r.attempts()[1]; len(got) != want {
		t.Errorf("%s: slot 1 is tried %d times, want %d: the budget is %d, and lost is %t", r.name(), len(got), want, limit, h.lost)
	}
}

// losses returns the number of events that report the loss of a Job's ledger. It waits for the first one if wait is set.
func (w *shared) losses(t *testing.T, r *trial, wait bool) (told int) {
	t.Helper()
	testcluster.Eventually(t, "the loss is told", func(ctx context.Context) (bool, error) {
		events, err := w.Client.EventsV1().Events(r.namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=" + plan.ReasonLedgerLost})
		if err != nil {
			return false, err
		}
		told = 0
		for _, e := range events.Items {
			if e.Regarding.Name == r.name() && e.Type == corev1.EventTypeWarning {
				told++
				if e.Series != nil {
					told += int(e.Series.Count) - 1
				}
			}
		}
		return told > 0 || !wait, nil
	})
	return told
}
