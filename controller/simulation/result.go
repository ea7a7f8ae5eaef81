package simulation

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/runtime"
)

// Outcomes of a Job.
const (
	Complete   = "Complete"
	Failed     = "Failed"
	Unfinished = "Unfinished"
)

// Result is a Job's life.
type Result struct {
	Namespace, Name string
	// Outcome is Complete, Failed or Unfinished; Reason and Message are those of the condition.
	Outcome, Reason, Message string
	// Seconds is when the Job ended, or the simulation did, since the Job was created.
	Seconds int64
	// Events are in the order of time.
	Events []Event
	// Attempts are the pods and their restarts, in the order of creation.
	Attempts []Attempt
	// Indexes is how many indexes pods were created for, Unit what an index is: those of a Job without indexes number its
	// completions, or the workers of a work queue.
	Indexes int
	Unit    Unit
	// Status is the Job's last one.
	Status  batchv1.JobStatus
	Summary Summary
}

// Unit is what attempts are made at.
type Unit string

// The units of Jobs.
const (
	UnitIndex      Unit = "index"
	UnitCompletion Unit = "completion"
	UnitWorker     Unit = "worker"
)

// unitOf returns the unit of a Job.
func unitOf(job *batchv1.Job) Unit {
	switch {
	case ptr.Deref(job.Spec.CompletionMode, "") == batchv1.IndexedCompletion:
		return UnitIndex
	case job.Spec.Completions == nil:
		return UnitWorker
	}
	return UnitCompletion
}

// EventType says what happens.
type EventType string

// Types of events of pods and of the Job.
const (
	PodCreated   EventType = "PodCreated"
	PodStarted   EventType = "PodStarted"
	PodSucceeded EventType = "PodSucceeded"
	// PodFailed has the verdict.
	PodFailed EventType = "PodFailed"
	// PodRestarting is a failure that the kubelet answers by a restart in place.
	PodRestarting EventType = "PodRestarting"
	// PodDeleted is when the deletion is asked for, PodStopped when a pod ends that is not counted.
	PodDeleted  EventType = "PodDeleted"
	PodEvicted  EventType = "PodEvicted"
	PodStopped  EventType = "PodStopped"
	IndexFailed EventType = "IndexFailed"
	// JobChanged is done from outside, JobCondition is a condition that the controller sets, JobEvent an event that it records.
	JobChanged   EventType = "JobChanged"
	JobCondition EventType = "JobCondition"
	JobEvent     EventType = "JobEvent"
)

// Event is one thing that happens.
type Event struct {
	// Seconds since the Job was created.
	Seconds int64     `json:"seconds"`
	Type    EventType `json:"type"`
	// Index and Attempt are those of the pod. Attempts at an index are counted from 1.
	Index   *int   `json:"index,omitempty"`
	Attempt *int   `json:"attempt,omitempty"`
	Pod     string `json:"pod,omitempty"`
	// Delay is how many seconds after the failure before it an attempt is created.
	Delay int64 `json:"delaySeconds,omitempty"`
	// Because says how a pod failed.
	Because string           `json:"because,omitempty"`
	Verdict *runtime.Verdict `json:"verdict,omitempty"`
	// Reason and Message are those of a condition or event of the Job. Of a pod that is deleted because it does not start,
	// Reason is that of its condition FailingToStart.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Fate is what became of an attempt.
type Fate string

// The fates of attempts. Those between Succeeded and Stopped are verdicts on failures.
const (
	FateSucceeded Fate = "Succeeded"
	FateIgnored   Fate = "Ignore"
	FateCounted   Fate = "Count"
	FateFailIndex Fate = "FailIndex"
	FateFailJob   Fate = "FailJob"
	FateStopped   Fate = "Stopped" // by the controller or from outside, without a verdict
	FateRestarted Fate = "Restarted"
	FateUnknown   Fate = "Running" // when the simulation ended
)

// Attempt is a pod's life, or the part of it between two restarts.
type Attempt struct {
	// Number counts the attempts at the index, from 1.
	Index, Number int
	// Created, Started and Ended are seconds since the Job was created; -1 when it did not come to that.
	Created, Started, Ended int64
	// Deleted is when the pod was told to end, or -1.
	Deleted int64
	Fate    Fate
	// Because says how the pod failed; "" when it did not.
	Because string
}

// Summary adds up.
type Summary struct {
	// Pods is how many were created, Restarts how often the kubelet restarted one in place.
	Pods     int `json:"pods"`
	Restarts int `json:"restarts,omitempty"`
	// Succeeded and Stopped are pods; the pods that failed are in Verdicts, by action.
	Succeeded int            `json:"succeeded"`
	Stopped   int            `json:"stopped"`
	Verdicts  map[string]int `json:"verdicts"`
	// PodSeconds is how long all pods ran, WastedSeconds how long those that did not succeed did.
	PodSeconds    int64 `json:"podSeconds"`
	WastedSeconds int64 `json:"wastedSeconds"`
	// Plans is how often the controller made a Plan, Writes how often it wrote the Job's status.
	Plans  int `json:"-"`
	Writes int `json:"-"`
}

// Clock returns a time of the simulation, as 1h2m3s without what is zero.
func Clock(seconds int64) string {
	if seconds == 0 {
		return "0s"
	}
	text := (time.Duration(seconds) * time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if n := len(text) - len(zero); n > 0 && text[n:] == zero {
			text = text[:n+1]
		}
	}
	return text
}
