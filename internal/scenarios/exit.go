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
// returns nil if a built-in scenario is the same, or if the Job does not have the container.
func (e Exit) Scenario(job *batchv1.Job) *Scenario {
	spec := &job.Spec.Template.Spec
	called := func(c corev1.Container) bool { return c.Name == e.Container }
	at, init := slices.IndexFunc(spec.Containers, called), slices.IndexFunc(spec.InitContainers, called)
	if e.Container == "" && len(spec.Containers) > 0 {
		at, e.Container = 0, spec.Containers[0].Name
	}
	if at == 0 && slices.Contains(builtinCodes, e.Code) || at < 0 && init < 0 {
		return nil
	}
	name := fmt.Sprintf("exit-%d", e.Code)
	if at != 0 {
		name += "-of-" + e.Container
	}
	means, happen := "the others completed", func(l *life) {
		l.exits(0, ReasonCompleted)
		l.pod.Status.ContainerStatuses[at].State.Terminated = Terminated(e.Code, ReasonError)
	}
	phase := corev1.PodFailed
	switch {
	case init >= 0 && isSidecar(&spec.InitContainers[init]):
		phase, means, happen = corev1.PodRunning, "the others run", func(l *life) {
			l.runs()
			l.pod.Status.InitContainerStatuses[init].State = corev1.ContainerState{Terminated: Terminated(e.Code, ReasonError)}
		}
	case init >= 0:
		means, happen = "no later one ran", func(l *life) { l.initFails(init, e.Code, ReasonError) }
	}
	s := exited(name, e.Code, fmt.Sprintf("Container %s exited with code %d, %s.", e.Container, e.Code, means))
	s.happen, s.Phase = happen, phase
	return &s
}
