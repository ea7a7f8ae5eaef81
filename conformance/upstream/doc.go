// Package upstream holds podverdict to Kubernetes itself: the Job controller's
// own matcher, from k8s.io/kubernetes v1.37.2, is an engine like any other, asked
// every vector, generated pairs and an exhaustive small space of them.
//
// It is a module of its own, because k8s.io/kubernetes needs a replace for each
// of its staging modules, and because nothing that podverdict ships may link it.
//
// Package release reaches upstream. The commands can ask other releases of Kubernetes, too, each in a process of its own: `make matrix`.
//
// # What the matcher does not say
//
// For FailJob upstream returns a sentence that names rule, container and exit code
// or condition; for the other actions only the action. To learn what matched, the
// engine asks upstream a second time, about a witness: the same policy in which every
// rule with a known action has the action FailJob. The same rule matches, because of
// the same container or condition, and the sentence names it.
//
// # Restarts
//
// What happens when a container exits, and the phase of its Pod, are compared with the kubelet's own functions in the feature
// gates of each version: go test -run 'TestRestarts|TestPhases' -all-restarts.
//
// # Validation
//
// [release.APIServer] answers what the API server answers to a Job, an update, a CronJob or
// a write of a Job's status, through the strategies of its own registry. [Validation]
// compares that with the Rego bundle on generated objects, finding by finding.
package upstream
