package library

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Field is a field of T, which every value of T has. One of String, Int and Bool
// reads it.
type Field[T any] struct {
	Name string
	// Doc is what the field is, in a sentence without a subject.
	Doc string

	String func(T) string
	Int    func(T) int64
	Bool   func(T) bool
}

// Names of the library's types in CEL.
const (
	ContainerName = "podverdict.Container"
	ConditionName = "podverdict.Condition"
)

// ContainerFields are the fields of podverdict.Container, in the order of the
// reference.
var ContainerFields = []Field[Container]{
	{Name: "name", String: Container.name, Doc: "the container's name"},
	{Name: "kind", String: Container.kind, Doc: "'container', 'init' or 'sidecar'"},
	{Name: "state", String: Container.state, Doc: "'waiting', 'running' or 'terminated'"},
	{Name: "exitCode", Int: Container.exitCode, Doc: "the exit code; 0 unless the container is terminated"},
	{Name: "signal", Int: Container.signal, Doc: "the signal that ended the container: what the runtime reports, or else the exit code less 128 for 129 to 192; 0 if there is none"},
	{Name: "signalName", String: Container.signalName, Doc: "the signal's name, as in 'SIGKILL'; empty if there is none"},
	{Name: "reason", String: Container.reason, Doc: "why it is terminated or waiting, as in 'OOMKilled', 'Error' or 'ImagePullBackOff'; may be empty"},
	{Name: "message", String: Container.message, Doc: "its termination message, or what it waits for; may be empty"},
	{Name: "oomKilled", Bool: Container.oomKilled, Doc: "whether it is terminated with reason 'OOMKilled'"},
	{Name: "restarts", Int: Container.restarts, Doc: "how often the kubelet has restarted it"},
	{Name: "image", String: Container.image, Doc: "the image that it runs"},
}

// ConditionFields are the fields of podverdict.Condition.
var ConditionFields = []Field[Condition]{
	{Name: "found", Bool: Condition.found, Doc: "whether the pod has a condition of the type"},
	{Name: "status", String: Condition.status, Doc: "'True', 'False' or 'Unknown'; empty if it is not found"},
	{Name: "reason", String: Condition.reason, Doc: "why it has this status, in one word; may be empty"},
	{Name: "message", String: Condition.message, Doc: "the same in a sentence; may be empty"},
}

// Type is the field's type in CEL.
func (f Field[T]) Type() *types.Type {
	switch {
	case f.String != nil:
		return types.StringType
	case f.Int != nil:
		return types.IntType
	default:
		return types.BoolType
	}
}

func (f Field[T]) value(of T) ref.Val {
	switch {
	case f.String != nil:
		return types.String(f.String(of))
	case f.Int != nil:
		return types.Int(f.Int(of))
	default:
		return types.Bool(f.Bool(of))
	}
}
