// Package integration is where Kubernetes' own integration tests of the Job controller, test/integration/job of
// k8s.io/kubernetes, meet ours. They are not kept here: cmd/upstream takes them from the module cache, makes the [Edits] and
// has them compiled as tests of this package.
//
// Where the tests start upstream's controller, Start starts ours with the back-off, batch period and limits that the test has
// set. Where they read upstream's metrics, Count reads ours of the same name. Adopt gives Jobs our manager. They are in files of
// tests, so that only these link the controllers.
package integration
