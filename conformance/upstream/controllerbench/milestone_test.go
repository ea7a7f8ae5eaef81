package controllerbench

import (
	"context"
	"io"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
)

func TestMilestones(t *testing.T) {
	condition := []batchv1.JobCondition{{Type: batchv1.JobFailed}}
	for name, tt := range map[string]struct {
		milestone Milestone
		sight     sight
		want      bool
		progress  int64
	}{
		"nothing":               {milestone: Created},
		"not counted":           {milestone: Created, sight: sight{pods: 3, unfinished: 3}, progress: 3},
		"created":               {milestone: Created, sight: sight{status: batchv1.JobStatus{Active: 3}, pods: 3, unfinished: 3}, want: true, progress: 3},
		"not seen":              {milestone: Replaced, sight: sight{status: batchv1.JobStatus{Active: 3, Failed: 3}, pods: 5, unfinished: 3}, progress: 2},
		"failures not counted":  {milestone: Replaced, sight: sight{status: batchv1.JobStatus{Active: 3, Failed: 2}, pods: 6, unfinished: 3}, progress: 3},
		"not active":            {milestone: Replaced, sight: sight{status: batchv1.JobStatus{Active: 2, Failed: 3}, pods: 6, unfinished: 3}, progress: 3},
		"replaced":              {milestone: Replaced, sight: sight{status: batchv1.JobStatus{Active: 3, Failed: 3}, pods: 6, unfinished: 3}, want: true, progress: 3},
		"heading for its end":   {milestone: Finished, sight: sight{status: batchv1.JobStatus{Failed: 5, Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailureTarget}}}}, progress: 2},
		"finished":              {milestone: Finished, sight: sight{status: batchv1.JobStatus{Failed: 6, Conditions: condition}}, want: true, progress: 3},
		"finished successfully": {milestone: Finished, sight: sight{status: batchv1.JobStatus{Succeeded: 3, Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete}}}}, want: true, progress: 3},
		"held":                  {milestone: Released, sight: sight{pods: 3, held: 1}, progress: 2},
		"released":              {milestone: Released, sight: sight{pods: 3}, want: true, progress: 3},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.milestone.reached(tt.sight, 3); got != tt.want {
				t.Errorf("reached: %v", got)
			}
			if got := tt.milestone.progress(tt.sight, 3); got != tt.progress {
				t.Errorf("progress: %d, want %d", got, tt.progress)
			}
		})
	}
}

// A Job that ends in another way is not waited for.
func TestAwaitTheRightEnd(t *testing.T) {
	for _, goal := range []Milestone{Created, Replaced, Finished} {
		s := scene{Trial: Trial{Shape: Fail(), Pods: 1, Log: io.Discard}, observer: &observer{}}
		end := batchv1.JobFailed
		if goal == Finished {
			end = batchv1.JobComplete
		}
		s.observer.now.status.Conditions = []batchv1.JobCondition{{Type: end, Reason: "R", Message: "M"}}
		if err := s.await(t.Context(), goal); err == nil || err.Error() != "the Job is "+string(end)+" before its pods are "+string(goal)+": R: M" {
			t.Errorf("%s: %v", goal, err)
		}
	}
}

func TestAwaitTellsTheCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errContender(nil))
	s := scene{Trial: Trial{Shape: Fail(), Pods: 1, Log: io.Discard}, observer: &observer{}}
	if err := s.await(ctx, Created); err == nil || !strings.Contains(err.Error(), "the controller: it ended before the Job did") {
		t.Error(err)
	}
}

func TestUntil(t *testing.T) {
	if got := Succeed().until(Replaced); len(got) != 3 {
		t.Errorf("what succeeds is not replaced, and goes to its end: %v", got)
	}
	if got := Fail().until(Replaced); len(got) != 2 || got[1] != Replaced {
		t.Errorf("got %v", got)
	}
}
