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
	containers := job.Spec.Template.Spec.Containers
	at := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == e.Container })
	switch {
	case e.Container == "" && len(containers) > 0:
		at = 0
	case at < 0:
		return nil
	}
	if at == 0 && slices.Contains(builtinCodes, e.Code) {
		return nil
	}
	name := fmt.Sprintf("exit-%d", e.Code)
	if at > 0 {
		name += "-of-" + e.Container
	}
	s := exited(name, e.Code, fmt.Sprintf("Container %s exited with code %d, the others completed.", containers[at].Name, e.Code))
	s.happen = func(l *life) {
		l.exits(0, ReasonCompleted)
		l.pod.Status.ContainerStatuses[at].State.Terminated = Terminated(e.Code, ReasonError)
	}
	return &s
}
