package evidence_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/internal/testing/dataset"
)

var planted = []string{"node", "image", "code", "disruption"}

// TestJobsEndAsTheControllerHasIt compares the status of each Job with podverdict's verdicts on its Pods.
func TestJobsEndAsTheControllerHasIt(t *testing.T) {
	judge := newJudge(t)
	ends := map[string]int{}
	for seed := range uint64(8) {
		byKey := map[string][]gathering.Record{}
		for _, r := range dataset.Generate(seed, dataset.Options{Plant: planted, Noise: 0.1}).Records {
			byKey[r.Key()] = append(byKey[r.Key()], r)
		}
		for key, records := range byKey {
			var families []gathering.Family
			for f := range gathering.OfRecords(records).Families() {
				families = append(families, f)
			}
			if len(families) != 1 || families[0].Job == nil {
				t.Fatalf("%s: %d families", key, len(families))
			}
			f := families[0]
			job := f.Job.Stored()
			rules, err := judge.For(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			var pods []snapshot.Pod
			for _, pod := range f.Pods {
				pods = append(pods, snapshot.Pod{Object: pod.Object})
			}
			snap := snapshot.New(job, rules, time.Time{}, snapshot.Missing{}, pods...)
			var counted, failJob, succeeded, failures int32
			byLine := map[string]int32{}
			for i, d := range snap.Decisions(t.Context()) {
				v := d.Verdict
				switch {
				case !v.Terminal:
					succeeded++
					continue
				case v.Action == batchv1.PodFailurePolicyActionFailJob:
					failJob++
				case v.Action == batchv1.PodFailurePolicyActionFailIndex:
					byLine[f.Pods[i].Object.Labels[batchv1.JobCompletionIndexAnnotation]] += 100
				}
				if failures++; v.Action != batchv1.PodFailurePolicyActionIgnore {
					counted++
					byLine[f.Pods[i].Object.Labels[batchv1.JobCompletionIndexAnnotation]]++
				}
			}
			s := job.Status
			reason := s.Conditions[len(s.Conditions)-1].Reason
			ends[reason]++
			want := batchv1.JobReasonCompletionsReached
			switch limit := job.Spec.BackoffLimitPerIndex; {
			case failJob > 0:
				want = batchv1.JobReasonPodFailurePolicy
			case counted > *job.Spec.BackoffLimit:
				want = batchv1.JobReasonBackoffLimitExceeded
			case limit != nil:
				for _, n := range byLine {
					if n > *limit {
						want = batchv1.JobReasonFailedIndexes
					}
				}
			}
			got := fmt.Sprint(reason, s.Failed, s.Succeeded)
			if diff := cmp.Diff(fmt.Sprint(want, counted, succeeded), got); diff != "" {
				t.Errorf("%s: %s", key, diff)
			}
			if reason == batchv1.JobReasonCompletionsReached && succeeded != *job.Spec.Completions {
				t.Errorf("%s: %d of %d succeeded", key, succeeded, *job.Spec.Completions)
			}
			checkLines(t, job, f.Pods)
		}
	}
	if len(ends) != 4 || slices.Min([]int{ends["PodFailurePolicy"], ends["FailedIndexes"], ends["BackoffLimitExceeded"]}) < 2 {
		t.Errorf("Jobs ended: %v", ends)
	}
}

// checkLines checks that attempts of a line follow each other, and that no more run at the same time than allowed.
func checkLines(t *testing.T, job *batchv1.Job, pods []manifest.Pod) {
	t.Helper()
	for i, p := range pods {
		pod := p.Object
		running := 0
		for j, o := range pods {
			other := o.Object
			start, end := other.CreationTimestamp.Time, plan.FinishTime(other)
			if start.Before(pod.CreationTimestamp.Time) && end.After(pod.CreationTimestamp.Time) {
				running++
			}
			index := pod.Labels[batchv1.JobCompletionIndexAnnotation]
			if i < j && index != "" && index == other.Labels[batchv1.JobCompletionIndexAnnotation] && start.Before(plan.FinishTime(pod)) {
				t.Errorf("%s and %s overlap", pod.Name, other.Name)
			}
		}
		if running >= int(*job.Spec.Parallelism) {
			t.Errorf("%s: %d others run", pod.Name, running)
		}
	}
}

// TestSameSeedSameFleet checks that the same seed generates the same dataset and the same text, with one Pod per line.
func TestSameSeedSameFleet(t *testing.T) {
	var texts [3]bytes.Buffer
	for i, seed := range []uint64{1, 1, 2} {
		fleet := dataset.Generate(seed, dataset.Options{Plant: planted, Pods: 300})
		if len(fleet.Planted) != 4 {
			t.Fatal(fleet.Planted)
		}
		if err := dataset.Write(&texts[i], fleet.Records); err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(texts[i].Bytes(), []byte("\n")); lines != len(fleet.Records) {
			t.Errorf("%d lines for %d objects", lines, len(fleet.Records))
		}
	}
	if diff := cmp.Diff(texts[0].String(), texts[1].String()); diff != "" {
		t.Error(diff)
	}
	if bytes.Equal(texts[0].Bytes(), texts[2].Bytes()) {
		t.Error("two seeds gave the same fleet")
	}
}
