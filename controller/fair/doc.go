// Package fair shares by namespaces whatever the controller does one after the other: keys in queues, calls of the API server, and
// room for things that wait. Next comes the oldest work of the namespace that has used the least time, so the backlog of one
// namespace does not delay another. A queue has one worker more than asked for, which is for a namespace that has none.
//
// Kubernetes' own queues (client-go's util/workqueue) and its limit of calls (util/flowcontrol) know no namespaces.
package fair
