// Package scenarios has the ways in which a Job's Pod ends, waits and runs, each as a Pod that a kubelet, a scheduler or a
// controller of Kubernetes 1.37 leaves. Suites build their cases on them, and rules can be tried on them without a cluster.
//
//	for i := range scenarios.All {
//		pod := scenarios.All[i].Pod(job)
//	}
package scenarios
