// Package observing records what pod failures mean: in metrics, and in an event for each pod that a rule matches. It
// evaluates the pods of Jobs that other controllers run, including the custom policies bound to such a Job; there, pods
// that no rule matches get an event too. The running loop passes on its verdicts for managed Jobs (Judged). The package
// changes no Job and no pod.
//
// A pod gets one event. The event's name is derived from the pod's UID, so if the event exists, this or another replica
// wrote it earlier. A pod that failed after this process started counts in the metrics when it is evaluated. One that
// failed earlier counts only if its event is new: otherwise an earlier process has counted it. A pod that gets no event
// and failed while no process was running is not counted.
//
// By default the API server keeps events for an hour, so a pod that failed longer ago gets none.
package observing
