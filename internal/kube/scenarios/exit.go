package scenarios

import (
	"cmp"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// builtinCodes holds the exit codes of the built-in scenarios in which only the first container exits.
var builtinCodes = []int32{0, 1, 127, 134, 137, 139, 143}

// Exit is a container that exits with a code named in a rule.
type Exit struct {
	// Container is its name; empty means the first container.
	Container string
	Code      int32
}

// Scenario returns the scenario for a Job, named exit-42 or, if the container is not the first, exit-42-of-helper. It returns nil if a
// built-in scenario is equal, or if the Job does not have the container. The scenario can be used for every Job that has the container, or
// for any Job if Container is empty.
func (e Exit) Scenario(job *batchv1.Job) *Scenario {
	name, isFirst := e.Container, false
	spec := &job.Spec.Template.Spec
	if len(spec.Containers) > 0 {
		name = cmp.Or(name, spec.Containers[0].Name)
		isFirst = name == spec.Containers[0].Name
	}
	if isFirst && slices.Contains(builtinCodes, e.Code) || !slices.ContainsFunc(slices.Concat(spec.Containers, spec.InitContainers), func(c corev1.Container) bool { return c.Name == name }) {
		return nil
	}
	s := exited(fmt.Sprintf("exit-%d", e.Code), e.Code, fmt.Sprintf("A container exited with code %d.", e.Code))
	if !isFirst {
		s.Name += "-of-" + name
	}
	s.happen = func(l *life) { l.exitAlone(cmp.Or(e.Container, l.first().Name), e.Code) }
	return &s
}

// exitAlone ends a container with a code. The other containers have completed, unless the container is a sidecar: then they run.
func (l *life) exitAlone(name string, code int32) {
	if !l.find(name).Sidecar {
		l.exit(name, code, "")
		return
	}
	l.runs()
	l.find(name).Exit(code, "", ended)
}
