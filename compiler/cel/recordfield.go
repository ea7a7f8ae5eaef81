package cel

import (
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// RecordField is a field of the library type for the Go type T. Every value of T has it. One of String, Int, OptionalInt, Bool and Time
// reads it.
type RecordField[T any] struct {
	Name string
	// Doc describes the field, in a sentence without a subject.
	Doc string
	// Reads are the Pod fields from which this field is computed, named by type as in PodStatus.phase. Fields that every value of T needs
	// are omitted.
	Reads []string

	String func(T) string
	Int    func(T) int64
	Bool   func(T) bool
	// OptionalInt returns false for an empty optional.
	OptionalInt func(T) (int64, bool)
	Time        func(T) time.Time
}

// Names of the library's types in CEL.
const (
	ContainerName = "podverdict.Container"
	ConditionName = "podverdict.Condition"
	AttemptName   = "podverdict.Attempt"
)

// ContainerFields are the fields of podverdict.Container, in the order of the
// reference.
var ContainerFields = []RecordField[Container]{
	{Name: "name", String: Container.name, Doc: "the container's name"},
	{Name: "kind", String: Container.kind, Doc: "'container', 'init' or 'sidecar'"},
	{Name: "state", String: Container.state, Doc: "'waiting', 'running' or 'terminated'"},
	{Name: "exitCode", Int: Container.exitCode, Doc: "the exit code; 0 unless the container is terminated"},
	{Name: "signal", Int: Container.signal, Reads: []string{"ContainerStateTerminated.signal"}, Doc: "the signal that ended the container: what the runtime reports, or else the exit code less 128 for 129 to 192; 0 if there is none"},
	{Name: "signalName", String: Container.signalName, Reads: []string{"ContainerStateTerminated.signal"}, Doc: "the signal's name, as in 'SIGKILL'; empty if there is none"},
	{Name: "reason", String: Container.reason, Reads: []string{"ContainerStateTerminated.reason", "ContainerStateWaiting.reason"}, Doc: "why it is terminated or waiting, as in 'OOMKilled', 'Error' or 'ImagePullBackOff'; may be empty"},
	{Name: "message", String: Container.message, Reads: []string{"ContainerStateTerminated.message", "ContainerStateWaiting.message"}, Doc: "its termination message, or what it waits for; may be empty"},
	{Name: "oomKilled", Bool: Container.oomKilled, Reads: []string{"ContainerStateTerminated.reason"}, Doc: "whether it is terminated with reason 'OOMKilled'"},
	{Name: "restartCount", Int: Container.restarts, Reads: []string{"ContainerStatus.restartCount"}, Doc: "how often the kubelet has restarted it"},
	{Name: "restarts", Int: Container.restarts, Reads: []string{"ContainerStatus.restartCount"}, Doc: "the same as restartCount"},
	{Name: "lastExitCode", OptionalInt: Container.lastExitCode, Reads: []string{"ContainerStatus.lastState"}, Doc: "the exit code before the last restart; none if it was never restarted"},
	{Name: "waitingReason", String: Container.waitingReason, Reads: []string{"ContainerStateWaiting.reason"}, Doc: "why it waits, as in 'CrashLoopBackOff'; empty unless it does"},
	{Name: "image", String: Container.image, Reads: []string{"ContainerStatus.image"}, Doc: "the image that it runs"},
}

// ConditionFields are the fields of podverdict.Condition.
var ConditionFields = []RecordField[Condition]{
	{Name: "found", Bool: Condition.found, Doc: "whether the pod has a condition of the type"},
	{Name: "status", String: Condition.status, Reads: []string{"PodCondition.status"}, Doc: "'True', 'False' or 'Unknown'; empty if it is not found"},
	{Name: "reason", String: Condition.reason, Reads: []string{"PodCondition.reason"}, Doc: "why it has this status, in one word; may be empty"},
	{Name: "message", String: Condition.message, Reads: []string{"PodCondition.message"}, Doc: "the same in a sentence; may be empty"},
}

// AttemptFields are the fields of podverdict.Attempt.
var AttemptFields = []RecordField[Attempt]{
	{Name: "node", String: func(a Attempt) string { return a.Node }, Doc: "the name of the node it ran on; empty if it had none"},
	{Name: "exitCode", Int: func(a Attempt) int64 { return int64(a.ExitCode) }, Doc: "the exit code of its first failed container; 0 if none has failed"},
	{Name: "reason", String: func(a Attempt) string { return a.Reason }, Doc: "the pod's reason, as in 'Evicted', else that of its disruption, as in 'PreemptionByScheduler', else that of its first failed container, as in 'OOMKilled'; may be empty"},
	{Name: "oomKilled", Bool: func(a Attempt) bool { return a.OOMKilled }, Doc: "whether a failed container of it was terminated with reason 'OOMKilled'"},
	{Name: "startTime", Time: func(a Attempt) time.Time { return a.StartTime }, Doc: "when the kubelet took the pod; when it was created if that never happened"},
	{Name: "finishTime", Time: func(a Attempt) time.Time { return a.FinishTime }, Doc: "when its last container finished, or the best estimate of that"},
	{Name: "policy", String: func(a Attempt) string { return a.Policy }, Doc: "the custom policy whose rule decided on it; empty for the Job's own rules, and if no rule matched"},
	{Name: "rule", String: func(a Attempt) string { return a.Rule }, Doc: "the name of the rule that decided on it; empty if it has none, and if no rule matched"},
}

// Type returns the field's CEL type.
func (f RecordField[T]) Type() *types.Type {
	switch {
	case f.String != nil:
		return types.StringType
	case f.Int != nil:
		return types.IntType
	case f.OptionalInt != nil:
		return types.NewOptionalType(types.IntType)
	case f.Time != nil:
		return types.TimestampType
	default:
		return types.BoolType
	}
}

func (f RecordField[T]) value(of T) ref.Val {
	switch {
	case f.String != nil:
		return types.String(f.String(of))
	case f.Int != nil:
		return types.Int(f.Int(of))
	case f.OptionalInt != nil:
		if i, found := f.OptionalInt(of); found {
			return types.OptionalOf(types.Int(i))
		}
		return types.OptionalNone
	case f.Time != nil:
		return types.Timestamp{Time: f.Time(of)}
	default:
		return types.Bool(f.Bool(of))
	}
}

// ReadBy returns the Reads of a field of a library type, or of all its fields if the name is empty.
func ReadBy(typ, field string) []string {
	switch typ {
	case ContainerName:
		return readBy(ContainerFields, field)
	case ConditionName:
		return readBy(ConditionFields, field)
	default:
		return nil
	}
}

func readBy[T any](fields []RecordField[T], name string) []string {
	var reads []string
	for _, f := range fields {
		if name == "" || name == f.Name {
			reads = append(reads, f.Reads...)
		}
	}
	return reads
}
