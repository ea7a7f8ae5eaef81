package simulation

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
)

// Outcomes of a Job.
const (
	Complete   = "Complete"
	Failed     = "Failed"
	Unfinished = "Unfinished"
)

// Result describes a Job's simulated life.
type Result struct {
	Namespace, Name string
	// Outcome is Complete, Failed or Unfinished; Reason and Message are those of the condition. Of an Unfinished Job, Message
	// may say which pod hangs on a lost node or restarts in place.
	Outcome, Reason, Message string
	// Seconds is the time from the Job's creation to its end, or to the end of the simulation.
	Seconds int64
	// Events are in chronological order.
	Events []Event
	// Indexes is for how many indexes pods were created, Unit what an index stands for. A Job without indexes numbers its
	// completions, or the workers of a work queue.
	Indexes int
	Unit    Unit
	// Status is the Job's final status.
	Status  batchv1.JobStatus
	Summary Summary
}

// Unit is what an index stands for.
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

// EventType is the type of an event.
type EventType string

// Types of events of pods and of the Job.
const (
	PodCreated   EventType = "PodCreated"
	PodStarted   EventType = "PodStarted"
	PodSucceeded EventType = "PodSucceeded"
	// PodFailed has the verdict.
	PodFailed EventType = "PodFailed"
	// PodRestarting is an exit after which the kubelet starts containers again in place. Reason is Restart or
	// RestartAllContainers, and Message says which field decides.
	PodRestarting EventType = "PodRestarting"
	// PodDeleted means that deletion was requested, PodStopped that a pod ended which is not counted.
	PodDeleted EventType = "PodDeleted"
	// PodEnded means that a rule on Terminating has given a pod on a lost node the phase Failed, PodRemoved that it was then
	// deleted by force.
	PodEnded   EventType = "PodEnded"
	PodRemoved EventType = "PodRemoved"
	// PodSpared means that a rule matches a pod that lives, which is not ended. It has the verdict, and Message says why.
	PodSpared   EventType = "PodSpared"
	PodEvicted  EventType = "PodEvicted"
	PodStopped  EventType = "PodStopped"
	IndexFailed EventType = "IndexFailed"
	// JobChanged is an intervention of the Script, JobCondition a condition that the controller sets, JobEvent an event that
	// it records.
	JobChanged   EventType = "JobChanged"
	JobCondition EventType = "JobCondition"
	JobEvent     EventType = "JobEvent"
)

// Event is one event of a simulation.
type Event struct {
	// Seconds since the Job was created.
	Seconds int64     `json:"seconds"`
	Type    EventType `json:"type"`
	// Index and Attempt are those of the pod. Attempts at an index are counted from 1.
	Index   *int   `json:"index,omitempty"`
	Attempt *int   `json:"attempt,omitempty"`
	Pod     string `json:"pod,omitempty"`
	// Node is the pod's, once it has one.
	Node string `json:"node,omitempty"`
	// Memory is the memory limit of a new pod's first container, or the pod's own if the container has none.
	Memory string `json:"memory,omitempty"`
	// Changes are what a retry of a rule changed in a new pod.
	Changes []plan.Mended `json:"changes,omitempty"`
	// Delay is how many seconds after the previous failure the attempt was created, or is to start in place.
	Delay int64 `json:"delaySeconds,omitempty"`
	// Because says how a pod failed.
	Because string           `json:"because,omitempty"`
	Verdict *runtime.Verdict `json:"verdict,omitempty"`
	// Reason and Message are those of the Job's condition or event. For a pod that is ended because of a rule on pods that
	// live, Message is the type of the condition that the pod gets, and Reason that condition's.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Summary has the totals of a simulation.
type Summary struct {
	// Pods is how many were created, Restarts how often the kubelet restarted one in place.
	Pods     int `json:"pods"`
	Restarts int `json:"restarts,omitempty"`
	// Succeeded and Stopped count pods; Verdicts counts failed pods by action.
	Succeeded int            `json:"succeeded"`
	Stopped   int            `json:"stopped"`
	Verdicts  map[string]int `json:"verdicts"`
	// PodSeconds is how long all pods ran in total, WastedSeconds how long those did that did not succeed.
	PodSeconds    int64 `json:"podSeconds"`
	WastedSeconds int64 `json:"wastedSeconds"`
	// Plans is how many Plans the controller made, Writes how often it wrote the Job's status.
	Plans  int `json:"-"`
	Writes int `json:"-"`
}

// Clock formats a time of the simulation as 1h2m3s, without parts that are zero.
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
