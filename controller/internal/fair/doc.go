// Package fair shares serial resources of the controller between namespaces: keys in queues, calls to the API server,
// and slots for waiting items. The next item is the oldest one of the namespace that has used the least time, so the
// backlog of one namespace does not delay another. A queue has one worker more than requested, reserved for namespaces
// that occupy none.
//
// Kubernetes' own queues (client-go's util/workqueue) and rate limiters (util/flowcontrol) do not distinguish
// namespaces.
package fair
