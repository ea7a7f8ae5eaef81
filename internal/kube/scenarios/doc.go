// Package scenarios lists the ways in which a Job's Pod ends, waits and runs, each with the resulting Pod in Kubernetes 1.37. Suites
// derive their cases from them, and rules can be tried on them without a cluster.
//
//	for i := range scenarios.All {
//		pod := scenarios.All[i].Pod(job, gates)
//	}
//
// Package podstatus writes the statuses. Its testdata/sources.json names the files of Kubernetes and containerd that write each text.
package scenarios
