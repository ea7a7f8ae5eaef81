package simulation

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
	"github.com/podverdict/podverdict/internal/kube/restart"
)

// outcome is the way a pod ends.
type outcome struct {
	codes     map[string]int32 // exit codes by container; the others exit with 0
	oom       string           // container that is killed for running out of memory
	condition corev1.PodConditionType
	collected bool // whether pod garbage collection ends it, because it has no kubelet
}

func outcomeOf(given Rule, job *batchv1.Job) outcome {
	first := ""
	if containers := job.Spec.Template.Spec.Containers; len(containers) > 0 {
		first = containers[0].Name
	}
	o := outcome{condition: corev1.PodConditionType(given.Condition), codes: given.ExitCodes}
	switch {
	case given.ExitCode != nil:
		o.codes = map[string]int32{first: *given.ExitCode}
	case given.OOM:
		o.oom, o.codes = first, map[string]int32{first: podstatus.CodeKilled}
	case given.ExitCodes != nil:
	case o.condition == corev1.DisruptionTarget:
		o.codes = map[string]int32{first: podstatus.CodeKilled}
	case o.condition != "":
		o.codes = map[string]int32{first: 1}
	}
	return o
}

// memoryLimit returns the memory limit of the first container: its own, or else the pod's. It is zero without a limit.
func memoryLimit(spec *corev1.PodSpec) resource.Quantity {
	var limit resource.Quantity
	if spec.Resources != nil {
		limit = spec.Resources.Limits[corev1.ResourceMemory]
	}
	if len(spec.Containers) > 0 {
		if own, has := spec.Containers[0].Resources.Limits[corev1.ResourceMemory]; has {
			limit = own
		}
	}
	return limit
}

// evicted reports whether the kubelet evicts the pod, rather than its containers ending by themselves.
func (o outcome) evicted() bool { return o.condition == corev1.DisruptionTarget }

// stopped returns the outcome of a pod whose containers receive SIGTERM and then exit with a code.
func stopped(spec *corev1.PodSpec, code int32) outcome {
	o := outcome{codes: map[string]int32{}}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for _, c := range containers {
			o.codes[c.Name] = code // applies only to running containers
		}
	}
	return o
}

// failsToStart returns the name of the init container that fails, if any. Later containers then never start.
func (o outcome) failsToStart(spec *corev1.PodSpec) string {
	for _, c := range spec.InitContainers {
		if !restart.IsSidecar(&c, spec) && o.codes[c.Name] != 0 {
			return c.Name
		}
	}
	return ""
}
