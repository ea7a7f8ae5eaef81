package runtime

import (
	"time"

	"github.com/google/cel-go/common/types"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
)

// Input is the input of an evaluation. The objects are neither changed, copied, converted nor retained.
type Input struct {
	Pod *corev1.Pod
	// Job is the pod's Job. If it is nil, rules see an empty Job.
	Job *batchv1.Job
	// Attempt is the pod's attempt number at its index or slot, starting at 1.
	Attempt int64
	// Attempts are the earlier attempts at the pod's index, or of a Job without indexes, newest first and at most
	// cel.MaxAttempts.
	Attempts []cel.Attempt
	// Now is the current time, for rules on living pods.
	Now time.Time
	// Node is the Node that the pod was bound to, or nil if there is none or nothing is known about it.
	Node *corev1.Node
	// NodesRead reports whether nodes could be read. In that case a nil Node means that the pod's node does not exist.
	NodesRead bool
}

// value returns the CEL value of a rule variable.
func (in *Input) value(name string) (any, bool) {
	switch name {
	case compiler.PodVariable:
		return in.Pod, true
	case compiler.JobVariable:
		return in.Job, true
	case compiler.AttemptVariable:
		return in.Attempt, true
	case compiler.AttemptsVariable:
		return cel.AttemptList(in.Attempts), true
	case compiler.NowVariable:
		return in.Now, true
	case compiler.NodeVariable:
		return optionalNode(in.Node), true
	default:
		return nil, false
	}
}

// optionalNode returns the value of the variable node.
func optionalNode(node *corev1.Node) *types.Optional {
	if node == nil {
		return types.OptionalNone
	}
	value, _ := cel.Load().Value(node) // Node is a type of the schema
	return types.OptionalOf(value)
}

// Placeholders for missing objects. They must not be changed.
var (
	noPod corev1.Pod
	noJob batchv1.Job
)
