// Package integration runs Kubernetes' own integration tests of the Job controller, test/integration/job of
// k8s.io/kubernetes, against ours. The tests are not stored here: cmd/upstream reads them from the module cache, applies
// the [Edits] and compiles them as tests of this package.
//
// Where the tests start upstream's controller, Start starts ours with the test's back-off, batch period and limits. Where
// they read upstream's metrics, Count reads ours with the same name. Adopt sets our manager on Jobs. These functions are
// in test files, so that only tests link the controllers.
package integration
