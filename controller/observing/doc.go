// Package observing records what the failures of pods mean: in metrics, and in an event for each pod that a rule decides on. It judges
// the pods of Jobs that others run, where pods that no rule matches get an event too, and asks the custom policies that are bound
// to such a Job what they would do. The verdicts on pods of managed Jobs are passed on to it (Judged). It changes no Job and no pod.
//
// A pod gets one event. The name of the event is a function of the pod's UID, so an event that exists was written before, by
// whatever replica. A pod that failed after this process began counts in the metrics when it is judged. One that failed
// earlier counts if its event is new: otherwise a process before this one has counted it. A pod that gets no event, and failed
// while no process was at work, is in no metric.
//
// Events live an hour unless the API server is configured otherwise, so a pod that failed longer ago gets none.
package observing
