package scenarios

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// builtinCodes are the exit codes of the built-in scenarios in which only the first container exits.
var builtinCodes = []int32{1, 127, 134, 137, 139, 143}

// Exit is a container that exits with a code named in a rule.
type Exit struct {
	// Container is its name; empty means the first container.
	Container string
	Code      int32
}

// Scenario returns the scenario for a Job, named exit-42 or, for a container that is not the first, exit-42-of-helper. It
// returns nil if a built-in scenario is the same, or if the Job does not have the container. The scenario is for Jobs that have it.
func (e Exit) Scenario(job *batchv1.Job) *Scenario {
	at, init := e.find(&job.Spec.Template.Spec)
	if at == 0 && slices.Contains(builtinCodes, e.Code) || at < 0 && init < 0 {
		return nil
	}
	name := fmt.Sprintf("exit-%d", e.Code)
	if at != 0 {
		name += "-of-" + e.Container
	}
	s := exited(name, e.Code, fmt.Sprintf("A container exited with code %d.", e.Code))
	s.happen = e.happen
	return &s
}

// find returns the index of the container, or that of the init container or sidecar. What there is not is -1.
func (e Exit) find(spec *corev1.PodSpec) (at, init int) {
	if e.Container == "" && len(spec.Containers) > 0 {
		return 0, -1
	}
	called := func(c corev1.Container) bool { return c.Name == e.Container }
	return slices.IndexFunc(spec.Containers, called), slices.IndexFunc(spec.InitContainers, called)
}

// happen ends the container. The others have completed; those beside a sidecar run, and those behind an init container do not.
func (e Exit) happen(l *life) {
	switch at, init := e.find(&l.pod.Spec); {
	case at >= 0:
		l.exits(0, ReasonCompleted)
		l.pod.Status.ContainerStatuses[at].State.Terminated = Terminated(e.Code, ReasonError)
	case isSidecar(&l.pod.Spec.InitContainers[init]):
		l.runs()
		l.pod.Status.InitContainerStatuses[init].State = corev1.ContainerState{Terminated: Terminated(e.Code, ReasonError)}
	default:
		l.initFails(init, e.Code, ReasonError)
	}
}
