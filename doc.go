// Package podverdict says what a failed Pod means for its Job.
//
//	engine, err := podverdict.New(policies...)
//	verdict, err := engine.Judge(ctx, job, pod)
//
// A verdict is by the rules of the Job's own podFailurePolicy (KEP-3329, KEP-3850), and by those of PodFailurePolicies
// (podverdict.io), which say in CEL what a podFailurePolicy cannot. Explain says why.
//
// The page docs/embedding.md of the repository has a Job controller, a webhook and a batch system without Jobs that use it.
//
// # Versions
//
// This package, api/v1alpha1, and conformance with the packages below it follow semantic versioning: only a major version,
// or before 1.0 a minor one, removes or changes what they export and its JSON and YAML. A verdict changes otherwise only if
// it was wrong; the change log says so. All other packages of the module may change with any release.
package podverdict
