package controller_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/controller/history"
	lines "github.com/podverdict/podverdict/internal/history"
)

// keeps makes the controllers of a world write history to a directory.
func keeps(directory string) func(*world) {
	return func(w *world) {
		w.history = func() *history.Writer {
			writer, err := history.New(history.Options{
				Directory: directory, MaxBytes: history.MinBytes, MaxFileAge: time.Hour, Metrics: w.counts.Metrics,
			})
			if err != nil {
				w.t.Fatal(err)
			}
			return writer
		}
	}
}

// linesIn returns short descriptions of the lines, sorted, such as "Verdict train-0: FailJob". Duplicates are included.
func linesIn(t *testing.T, directory string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(directory, "*.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var v lines.Verdict
			var job batchv1.Job
			if json.Unmarshal([]byte(line), &v) == nil && v.Kind == "Verdict" {
				all = append(all, "Verdict "+v.Job.Name+": "+string(v.Verdict.Action)+", "+v.Failure.Summary+" on "+v.Object.Spec.NodeName)
			} else if err := json.Unmarshal([]byte(line), &job); err == nil {
				all = append(all, "Job "+job.Name+" "+string(job.Status.Conditions[len(job.Status.Conditions)-1].Type))
			}
		}
	}
	slices.Sort(all)
	return all
}

// TestHistory checks that each failed pod and each finished Job gets a line, regardless of the Job's controller, even if it fails while
// podverdict's controller is not running. A restarted controller repeats no line, even with different policies.
func TestHistory(t *testing.T) {
	directory := t.TempDir()
	want := []string{
		"Job native Complete", "Job train Failed",
		"Verdict native: Count, main exited with 1 on ", "Verdict native: FailJob, main exited with 42 on ", "Verdict train: FailJob, main exited with 42 on ",
	}
	inWorld(t, keeps(directory), func(w *world) {
		w.run(managed(1, completions(1), policy))
		w.fail(codeFailJob)
		job := managed(1, policy)
		job.Name, job.Spec.ManagedBy = "native", nil
		native, err := w.server.CreateJob(job)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"native-1", "native-2", "native-3"} {
			pod, err := w.server.CreatePod(nativePod(native, name))
			if err != nil {
				t.Fatal(err)
			}
			w.pass(time.Second)
			if i == 1 {
				w.stop()
			}
			w.end(pod, []int32{1, codeFailJob, 0}[i])
			if i == 1 {
				w.start()
			}
			w.pass(time.Minute)
		}
		w.server.ChangeJob(native.Namespace, native.Name, func(job *batchv1.Job) {
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
		})
		w.pass(time.Minute)
		w.apply(customPolicy("gpu", rule("r", "true", ignore)), bind("gpu"))
		w.restart()
		w.pass(time.Minute)
	})
	if diff := cmp.Diff(want, linesIn(t, directory)); diff != "" {
		t.Errorf("the lines differ (-want +got):\n%s", diff)
	}
}

// TestHistoryOfTheLastMoment checks that lines added when the controller is stopped are written.
func TestHistoryOfTheLastMoment(t *testing.T) {
	directory := t.TempDir()
	inWorld(t, keeps(directory), func(w *world) {
		w.run(one())
		for _, pod := range w.server.Pods() {
			w.end(pod, 1)
		}
		time.Sleep(100 * time.Millisecond)
	})
	if got := linesIn(t, directory); len(got) != 1 {
		t.Errorf("the lines are %v", got)
	}
}
