// Package leadership elects one of several replicas to work: the one that holds a lease (coordination.k8s.io/v1),
// with client-go's leader election. The lease is released only when the work has ended, so two replicas never work
// at the same time.
package leadership
