package living

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/runtime/binding"
)

// TestLooksAreShared checks that slow policies in one namespace delay the pods of another one by at most one evaluation, and
// are completed in later passes. Deletions are shared, too.
func TestLooksAreShared(t *testing.T) {
	const slow, pods = 3 * time.Second, 10
	inWorld(t, func(w *world) {
		w.bind(startPolicy(lateImage()))
		for i := range pods {
			name := "a" + strconv.Itoa(i)
			w.createPod(w.createJob(name, func(job *batchv1.Job) { job.Namespace = "slow" }), name)
		}
		w.createPod(w.createJob("train", nil), "b")
		selection := w.Selection
		w.Selection = func(ctx context.Context, job *batchv1.Job) (binding.Selection, error) {
			if job.Namespace == "slow" {
				time.Sleep(slow)
			}
			return selection(ctx, job)
		}
		time.Sleep(time.Hour)
		w.lookAgain()
		start := time.Now()
		w.runOnce(w.context())
		if took := time.Since(start); took > 2*w.Period+2*slow {
			w.Errorf("a look takes %v", took)
		}
		w.expectState("b", marked+", deleted true")
		for range pods {
			w.lookAgain()
		}
		for i := range pods {
			w.expectState("a"+strconv.Itoa(i), marked+", deleted true")
		}
	})
}

// TestDeletionsAreShared checks that a tenant with more pods than may be deleted in a period leaves capacity for others.
func TestDeletionsAreShared(t *testing.T) {
	inWorld(t, func(w *world) {
		w.bind(startPolicy(lateImage()))
		w.Period = time.Second // for maxEnded pods
		old := w.createJob("old", func(job *batchv1.Job) { job.Namespace = "many" })
		for i := range 5 * maxEnded {
			w.createPod(old, "a"+strconv.Itoa(i))
		}
		time.Sleep(time.Hour)
		w.createPod(w.createJob("train", nil), "b")
		time.Sleep(time.Hour)
		w.lookAgain()
		w.expectState("b", marked+", deleted true")
		if calls := w.took(); len(calls) != 2*maxEnded {
			w.Errorf("%d calls", len(calls))
		}
	})
}

// TestPanic checks that a defect triggered by one Job is reported once and delays no other pod.
func TestPanic(t *testing.T) {
	inWorld(t, func(w *world) {
		w.bind(startPolicy(lateImage()))
		w.createPod(w.createJob("bad", nil), "a")
		w.createPod(w.createJob("good", nil), "b")
		selection := w.Selection
		w.Selection = func(ctx context.Context, job *batchv1.Job) (binding.Selection, error) {
			if job.Name == "bad" {
				panic("a defect") //nolint:forbidigo // it is what is tested
			}
			return selection(ctx, job)
		}
		time.Sleep(time.Hour)
		w.lookAgain()
		w.lookAgain()
		w.expectState("a", "unmarked, deleted false")
		w.expectState("b", marked+", deleted true")
		told := strings.Join(w.told(), "\n")
		if strings.Count(told, "Warning bad/a ControllerPanic: ") != 1 || !strings.Contains(told, "a defect") {
			w.Errorf("the events: %s", told)
		}
		w.counts.Expect(w.T, map[string]float64{deletions: 1, "panics_total{activity=living_pod}": 2})
	})
}
