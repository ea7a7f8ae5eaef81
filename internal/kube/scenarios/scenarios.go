package scenarios

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
	"github.com/podverdict/podverdict/internal/kube/restart"
)

// Scenario is something that can happen to a Pod.
type Scenario struct {
	Name string
	// Phase is the Pod's phase afterwards, unless a container restarts. As in rules, it is Terminating if the Pod is being
	// deleted but has not ended.
	Phase corev1.PodPhase
	// Means describes what has happened.
	Means string
	// Needs is the feature that the Pod must have for the scenario to happen.
	Needs Need

	happen func(*life)
}

const terminating corev1.PodPhase = "Terminating"

// Need is a feature that a Pod must have for a scenario.
type Need string

// The needs of scenarios.
const (
	nothing         Need = ""
	Restarts        Need = "a first container that restarts after exit code 1"
	CrashLoops      Need = "a first container that restarts when it fails"
	RestartsInPlace Need = "a first container that restarts, alone or with all others"
	InitContainer   Need = "an init container"
	SecondContainer Need = "a second container"
	Sidecar         Need = "a sidecar"
	ReadinessProbe  Need = "a first container with a readinessProbe"
)

// All holds the scenarios in groups, the simplest first.
var All = slices.Concat(failed, stopped, rejected, waiting, alive, done)

// Find returns the named scenario, or nil.
func Find(name string) *Scenario {
	for i := range All {
		if All[i].Name == name {
			return &All[i]
		}
	}
	return nil
}

// Names returns the names of all scenarios, in order.
func Names() []string {
	names := make([]string, len(All))
	for i := range All {
		names[i] = All[i].Name
	}
	return names
}

// Pod returns a Pod of the Job after the scenario. The Job must have the API's defaults. Depending on the gates, a container
// may restart and the Pod continue.
func (s *Scenario) Pod(job *batchv1.Job, g restart.Gates) *corev1.Pod {
	l := newLife(job)
	s.happen(l)
	Settle(l.pod, g)
	return l.pod
}

// Node returns the node of the Pod after the scenario. It returns nil if the Pod has no node, or if the node no longer exists.
func (s *Scenario) Node(job *batchv1.Job) *corev1.Node {
	l := newLife(job)
	s.happen(l)
	if l.pod.Spec.NodeName == "" {
		return nil
	}
	return l.node
}

// Lacks returns the feature that the Job's Pods lack for the scenario, or "". Pod adds missing containers.
func (s *Scenario) Lacks(job *batchv1.Job, g restart.Gates) Need {
	spec := &job.Spec.Template.Spec
	sidecars := 0
	for i := range spec.InitContainers {
		if restart.IsSidecar(&spec.InitContainers[i], spec) {
			sidecars++
		}
	}
	has := map[Need]bool{
		nothing:         true,
		Restarts:        restartCode(spec, g, restart.Restart) == 1,
		CrashLoops:      restartCode(spec, g, restart.Restart) > 0,
		RestartsInPlace: restartCode(spec, g, restart.Restart, restart.RestartAllContainers) > 0,
		InitContainer:   len(spec.InitContainers) > sidecars,
		SecondContainer: len(spec.Containers) > 1,
		Sidecar:         sidecars > 0,
		ReadinessProbe:  len(spec.Containers) > 0 && spec.Containers[0].ReadinessProbe != nil,
	}
	if has[s.Needs] {
		return nothing
	}
	return s.Needs
}

// PlainJob returns a Job with one container, as the API server stores it.
func PlainJob() *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "job"}}
	job.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: "main", Image: "example.com/main"}},
	}
	jobdefaults.Set(job)
	return job
}
