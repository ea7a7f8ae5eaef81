// Package podverdict decides what a failed Pod means for its Job.
//
//	engine, err := podverdict.New(policies...)
//	verdict, err := engine.Judge(ctx, job, pod)
//
// A verdict follows the rules of the Job's own podFailurePolicy (KEP-3329, KEP-3850) and of PodFailurePolicies
// (podverdict.io), whose CEL expressions cover conditions that a podFailurePolicy cannot express. Explain gives the
// reasons for a verdict.
//
// The page docs/embedding.md of the repository shows the package in a Job controller, a webhook and a batch system
// without Jobs.
//
// # Versions
//
// This package, api/v1alpha1, and conformance with the packages below it follow semantic versioning: only a major
// version, or a minor version before 1.0, removes or changes their exported names and their JSON and YAML. Apart from
// that, a verdict changes only if it was wrong, and the change log lists the change. All other packages of the module
// may change with any release.
package podverdict
