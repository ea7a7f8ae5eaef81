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
	// RestartPolicy is the one that the Pod must have for this to happen; "" if any will do.
	RestartPolicy corev1.RestartPolicy

	happen func(*life)
}

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

// CanHappen returns whether the scenario can happen to a Pod of the Job: with restartPolicy OnFailure, a container that
// fails is restarted, and its Pod goes on.
func (s *Scenario) CanHappen(job *batchv1.Job) bool {
	return s.RestartPolicy == "" || s.RestartPolicy == job.Spec.Template.Spec.RestartPolicy
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
