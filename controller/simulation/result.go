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
	// Outcome is Complete, Failed or Unfinished; Reason and Message are copied from the condition. For an Unfinished Job,
	// Message may name a pod that hangs on a lost node or restarts in place.
	Outcome, Reason, Message string
	// Seconds is the time from the Job's creation to its end, or to the end of the simulation.
	Seconds int64
	// Events are in chronological order.
	Events []Event
	// Indexes is the number of indexes for which pods were created, Unit the meaning of an index. A Job without indexes
	// numbers its completions, or the workers of a work queue.
	Indexes int
	Unit    Unit
	// Status is the Job's final status.
	Status  batchv1.JobStatus
	Summary Summary
}

// Unit is the meaning of an index.
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
	// PodRestarting is an exit after which the kubelet restarts containers in place. Reason is Restart or
	// RestartAllContainers, and Message names the field that decides.
	PodRestarting EventType = "PodRestarting"
	// PodDeleted means that deletion was requested, PodStopped that a pod ended without being counted.
	PodDeleted EventType = "PodDeleted"
	// PodEnded means that a rule on Terminating has set a pod on a lost node to phase Failed, PodRemoved that the pod was
	// then deleted by force.
	PodEnded   EventType = "PodEnded"
	PodRemoved EventType = "PodRemoved"
	// PodSpared means that a rule matches a living pod, but the pod is not ended. It has the verdict, and Message has the
	// reason.
	PodSpared   EventType = "PodSpared"
	PodEvicted  EventType = "PodEvicted"
	PodStopped  EventType = "PodStopped"
	IndexFailed EventType = "IndexFailed"
	// JobChanged is an intervention of the Script, JobCondition a condition set by the controller, JobEvent an event
	// recorded by it.
	JobChanged   EventType = "JobChanged"
	JobCondition EventType = "JobCondition"
	JobEvent     EventType = "JobEvent"
)

// Event is one event of a simulation.
type Event struct {
	// Seconds is the time since the Job was created.
	Seconds int64     `json:"seconds"`
	Type    EventType `json:"type"`
	// Index and Attempt identify the pod. Attempts at an index are counted from 1.
	Index   *int   `json:"index,omitempty"`
	Attempt *int   `json:"attempt,omitempty"`
	Pod     string `json:"pod,omitempty"`
	// Node is the pod's node, once it has one.
	Node string `json:"node,omitempty"`
	// Memory is the memory limit of a new pod's first container, or the pod's own if the container has none.
	Memory string `json:"memory,omitempty"`
	// Changes lists the changes that a rule's retry made to a new pod.
	Changes []plan.Mended `json:"changes,omitempty"`
	// Delay is the number of seconds between the previous failure and the creation of the attempt, or its start in place.
	Delay int64 `json:"delaySeconds,omitempty"`
	// Because describes the failure of a pod.
	Because string           `json:"because,omitempty"`
	Verdict *runtime.Verdict `json:"verdict,omitempty"`
	// Reason and Message are copied from the Job's condition or event. For a pod that a rule on living pods ends, Message
	// is the type of the condition that the pod gets, and Reason that condition's reason.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Summary has the totals of a simulation.
type Summary struct {
	// Pods is the number of created pods, Restarts the number of restarts in place by the kubelet.
	Pods     int `json:"pods"`
	Restarts int `json:"restarts,omitempty"`
	// Succeeded and Stopped count pods; Verdicts counts failed pods by action.
	Succeeded int            `json:"succeeded"`
	Stopped   int            `json:"stopped"`
	Verdicts  map[string]int `json:"verdicts"`
	// PodSeconds is the total run time of all pods, WastedSeconds that of the pods that did not succeed.
	PodSeconds    int64 `json:"podSeconds"`
	WastedSeconds int64 `json:"wastedSeconds"`
	// Plans is the number of Plans made by the controller, Writes the number of its writes to the Job's status.
	Plans  int `json:"-"`
	Writes int `json:"-"`
}

// Clock formats a time of the simulation as 1h2m3s, omitting parts that are zero.
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
