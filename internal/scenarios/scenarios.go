package scenarios

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/jobdefaults"
)

// Scenario is something that happens to a Pod.
type Scenario struct {
	Name string
	// Phase is the phase of its Pod.
	Phase corev1.PodPhase
	// Means says what has happened.
	Means string
	// Sources are the files that write the Pod so.
	Sources []Source
	// Needs are what the Pod must have for this to happen.
	Needs []Need

	happen func(*life)
}

// Need is what a Pod must have for a scenario to happen to it.
type Need string

// Needs of scenarios. Where a container must have failed for good, restartPolicy must be Never: else the kubelet restarts it.
const (
	Never           Need = "restartPolicy Never"
	OnFailure       Need = "restartPolicy OnFailure"
	InitContainer   Need = "an init container"
	SecondContainer Need = "a second container"
	Sidecar         Need = "a sidecar"
)

// Source is a file of Go, and what of the Pod's status it writes.
type Source struct {
	// Module is that of the file, as k8s.io/kubernetes, and File its path in there.
	Module, File string
	// Words are texts that the file has, and that are in the status of the Pod.
	Words []string
}

// Modules of sources.
const (
	moduleKubernetes = "k8s.io/kubernetes"
	moduleContainerd = "github.com/containerd/containerd/v2"
)

func kubernetes(file string, words ...string) Source {
	return Source{moduleKubernetes, file, words}
}

// containerd returns the file that names why containers have ended. CRI-O uses the same words.
func containerd(words ...string) Source {
	return Source{moduleContainerd, "internal/cri/server/helpers.go", words}
}

// needs returns several needs.
func needs(all ...Need) []Need { return all }

// sources returns several sources.
func sources(all ...Source) []Source { return all }

// All are the scenarios, by what the Pods have in common, the plainest first.
var All = slices.Concat(failed, stopped, rejected, waiting, alive)

// Find returns the scenario of a name, or nil.
func Find(name string) *Scenario {
	for i := range All {
		if All[i].Name == name {
			return &All[i]
		}
	}
	return nil
}

// Names returns the names of all scenarios, in their order.
func Names() []string {
	names := make([]string, len(All))
	for i := range All {
		names[i] = All[i].Name
	}
	return names
}

// Pod returns the Pod of a Job to which the scenario has happened. The Job has the API's defaults.
func (s *Scenario) Pod(job *batchv1.Job) *corev1.Pod {
	l := newLife(job)
	s.happen(l)
	return l.pod
}

// Lacks returns what a Job's Pods lack for the scenario to happen to them; "" if it can. Pod adds the containers that are missing.
func (s *Scenario) Lacks(job *batchv1.Job) Need {
	spec := &job.Spec.Template.Spec
	sidecars := 0
	for i := range spec.InitContainers {
		if isSidecar(&spec.InitContainers[i]) {
			sidecars++
		}
	}
	has := map[Need]bool{
		Never:           spec.RestartPolicy == corev1.RestartPolicyNever,
		OnFailure:       spec.RestartPolicy == corev1.RestartPolicyOnFailure,
		InitContainer:   len(spec.InitContainers) > sidecars,
		SecondContainer: len(spec.Containers) > 1,
		Sidecar:         sidecars > 0,
	}
	for _, need := range s.Needs {
		if !has[need] {
			return need
		}
	}
	return ""
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
