// Package leadership lets one of several replicas work at a time: the one that holds a lease (coordination.k8s.io/v1), by client-go's
// leader election. The lease is given back only when the work has ended, so two replicas never work at a time. It knows nothing of
// what the work is.
package leadership
