// Package upstream compares podverdict with Kubernetes itself: the Job controller's own matcher, from k8s.io/kubernetes
// v1.37.2, is an engine like any other, and answers every vector, generated pairs and an exhaustive small space of them.
//
// It is a separate module, because k8s.io/kubernetes needs a replace for each of its staging modules, and because no
// shipped part of podverdict may link it.
//
// Package release gives access to upstream. The commands can also query other releases of Kubernetes, each in its own
// process: `make matrix`.
//
// # Missing parts of the matcher's answers
//
// For FailJob upstream returns a sentence that names rule, container and exit code or condition; for the other actions
// only the action. To learn what matched, the engine queries upstream a second time, with a witness: the same policy in
// which every rule with a known action has the action FailJob. The same rule matches, because of the same container or
// condition, and the sentence names it.
//
// # Restarts
//
// The decision when a container exits, and the phase of its Pod, are compared with the kubelet's own functions in the
// feature gates of each version: go test -run 'TestRestarts|TestPhases' -all-restarts.
//
// # Validation
//
// [release.APIServer] gives the API server's answer to a Job, an update, a CronJob or a write to a Job's status, through
// the strategies of its own registry. [Validation] compares that with the Rego bundle on generated objects, finding by
// finding.
package upstream
