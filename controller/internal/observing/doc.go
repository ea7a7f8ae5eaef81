// Package observing records verdicts on failed pods in metrics, and in an event for each pod that a rule matches. It
// evaluates the pods of Jobs run by other controllers, including the custom policies bound to such a Job. For these
// Jobs, pods that no rule matches get an event, too. The running loop passes on its verdicts for managed Jobs (Judged).
// The package changes no Job and no pod.
//
// Each pod gets one event. The event's name is derived from the pod's UID, so an existing event was written earlier by
// this or another replica. A pod that failed after this process started is counted in the metrics when it is evaluated.
// A pod that failed earlier is counted only if its event is new: otherwise an earlier process has counted it. A pod
// that gets no event and failed while no process was running is not counted.
//
// By default, the API server keeps events for an hour, so a pod that failed longer ago gets none.
package observing
