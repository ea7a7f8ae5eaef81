// Package jobset determines the reaction of a JobSet (jobset.x-k8s.io/v1alpha2) to failed Jobs. It follows JobSet v0.12
// (pkg/controllers/failure_policy.go, KEP-262), uses JobSet's API types, and does no I/O.
//
//	jobset.SetDefaults(set)
//	decision := jobset.Decide(set, failed, jobset.Gates{})
//	set.Status = decision.Status(set)
//
// Tests in conformance/ecosystem compare it with JobSet's code and with JobSet's controller.
package jobset
