// Package podverdict says what a failed Pod means for its Job.
//
//	engine, err := podverdict.New(policies...)
//	verdict, err := engine.Judge(ctx, job, pod)
//
// A verdict is by the rules of the Job's own podFailurePolicy (KEP-3329, KEP-3850), and by those of PodFailurePolicies
// (podverdict.io), which say in CEL what a podFailurePolicy cannot. Explain says why.
//
// This package, api/v1alpha1 and conformance follow semantic versioning. All other packages may change with any release.
package podverdict
