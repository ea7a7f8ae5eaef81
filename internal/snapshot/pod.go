package snapshot

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/runtime"
)

// Pod is a Pod of a Snapshot with the facts that rules see of it.
type Pod struct {
	Object *corev1.Pod
	// Node is the Pod's Node, or nil if it no longer exists or is unknown. NodesRead reports whether it would be known if it
	// existed.
	Node      *corev1.Node
	NodesRead bool
	// Recorded is the verdict recorded when the Pod failed, which overrides the verdict of the rules; nil if there is none.
	Recorded *runtime.Verdict
	// Attempt is the Pod's attempt number, from 1, and Earlier are the attempts before it, newest first. If any Pod of a Snapshot
	// has no number, both are computed for all of its Pods.
	Attempt int64
	Earlier []cel.Attempt
	// First makes the Pod the first of the Job to fail, regardless of the other Pods: the Pod represents a scenario.
	First bool
	// Now is the time at which rules see the Pod; the zero time means the Snapshot's time.
	Now time.Time
}

// Input returns what rules see of the Pod at a time. Job may be nil.
func (p *Pod) Input(job *batchv1.Job, now time.Time) runtime.Input {
	if !p.Now.IsZero() {
		now = p.Now
	}
	return runtime.Input{
		Pod: p.Object, Job: job, Attempt: p.Attempt, Attempts: p.Earlier, Now: now, Node: p.Node, NodesRead: p.NodesRead,
	}
}
