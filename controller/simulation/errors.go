package simulation

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	errDuration     = errors.New("must be a duration such as 90s or 1h30m, a range such as 10s-2m, or forever")
	errDecreasing   = errors.New("must not end before it begins")
	errWholeSeconds = errors.New("must be whole seconds, as the times of the API are")
	errSelection    = errors.New("must be numbers from 0 and ranges of them: 3, 0-9,12 or 2+")
)

// ScriptError lists the errors in a Script, by field.
type ScriptError struct{ Errors field.ErrorList }

func (e *ScriptError) Error() string { return "script: " + e.Errors.ToAggregate().Error() }

const (
	detailFails       = "a pod fails in one way: give one of exitCode, exitCodes and oom"
	detailAlways      = "with oom the container is killed whatever its limit: give one of needs and oom"
	detailMemory      = "must be an amount of memory, such as 900Mi"
	detailBounds      = "must be from 0 to 1"
	detailJob         = "must be a replicatedJob, or one of its Jobs as in workers-0"
	detailOneJob      = "they are for a single Job"
	detailJobSets     = "job and restart are for the Jobs of a JobSet"
	detailAttempt     = "attempts are counted from 1"
	detailNothing     = "nothing happens: give suspend, parallelism, completions, delete, evict, drain, lose, outOfService or restore"
	detailCode        = "must be an exit code, from 0 to 255"
	detailForever     = "must be a time that comes"
	detailFixed       = "cannot be changed: only an Indexed Job can be scaled, with completions equal to parallelism before and after"
	detailCondition   = "must be the type of a condition, such as DisruptionTarget"
	detailNodes       = "must be from 0 to 100000"
	detailParallelism = "must be from 0 to 100000"
	detailInitFailed  = "an init container that fails keeps the others from starting: give its exit code alone"

	detailOneWait      = "a pod without a node has no container that waits: give one of waiting and unschedulable"
	detailHowLong      = "how long the pod waits: a duration such as 10m, or forever"
	detailNoTime       = "must be longer than 0s: the pod waits"
	detailReason       = "must be a reason that a container waits with, such as ImagePullBackOff"
	detailHasRun       = "is the reason of a container that has run"
	detailInitializing = "must be PodInitializing: the pod has init containers"
	detailCreating     = "must be ContainerCreating: the pod has no init containers"
	detailInitialized  = "the containers wait with this when the init containers have succeeded, and one of them is to fail"
)

// errTooLarge rejects a Job with more concurrent pods than are likely to fit into memory.
func errTooLarge(pods int32) error {
	return fmt.Errorf("spec.parallelism: %d pods at a time are too many to simulate, at most %d are possible", pods, maxSize)
}

// errTooManyJobs rejects a JobSet with more Jobs, or more concurrent pods, than are likely to fit into memory.
func errTooManyJobs(pods int64) error {
	return fmt.Errorf("spec.replicatedJobs: %d pods at a time are too many to simulate, at most %d are possible", pods, maxSetPods)
}

// errRestless reports a bug: the Plans for one instant never end.
func errRestless(job string, at int64) error {
	return fmt.Errorf("job %s: the controller does not come to rest %s after the start", job, Clock(at))
}
