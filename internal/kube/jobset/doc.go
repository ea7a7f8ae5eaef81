// Package jobset says what a JobSet (jobset.x-k8s.io/v1alpha2) does when Jobs of it have failed. It decides as JobSet v0.12 does
// (pkg/controllers/failure_policy.go, KEP-262), on the types of JobSet's API, and does no I/O.
//
//	jobset.SetDefaults(set)
//	decision := jobset.Decide(set, failed, jobset.Gates{})
//	set.Status = decision.Status(set)
//
// Tests in conformance/ecosystem compare it with JobSet's code and with JobSet's controller.
package jobset
