package manifest

import (
	"cmp"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/runtime"
)

// Reference names an object. An object without a namespace has the one in which it would be created.
type Reference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

func (r Reference) String() string { return r.Namespace + "/" + r.Name }

// referenceTo names an object. The name of an object with generateName is that.
func referenceTo(object metav1.Object, namespace string) Reference {
	return Reference{
		cmp.Or(object.GetNamespace(), namespace, metav1.NamespaceDefault), cmp.Or(object.GetName(), object.GetGenerateName()),
	}
}

// Job is a Job and where it was read.
type Job struct {
	Object *batchv1.Job
	Origin Origin
	// CronJob is set when the Job is what a CronJob makes, under the CronJob's name.
	CronJob *batchv1.CronJob
	// Template is the path to the Job in the object that was read: "" when it is the Job, spec.jobTemplate in a CronJob.
	Template string
	// JobSet is set when the Job is one that a JobSet makes, also for a TrainJob, and has JobSet's defaults. The Job is then that of
	// each index of ReplicatedJob.
	JobSet        *v1alpha2.JobSet
	ReplicatedJob string
	// MadeBy is set when the Job is not in the input, but one of its Pods, and names what is taken to have made it.
	MadeBy string
	// Namespace is where a Job without a namespace would be created. "" means "default".
	Namespace string
}

// Reference names the Job.
func (j Job) Reference() Reference { return referenceTo(j.Object, j.Namespace) }

// Maker names what makes the Job, or the Job if it is in the input.
func (j Job) Maker() Reference {
	return Reference{j.Reference().Namespace, cmp.Or(j.MadeBy, j.Reference().Name)}
}

// Whole returns the origin of the object that was read: the Job, or what makes it.
func (j Job) Whole() Origin {
	path := strings.TrimSuffix(strings.TrimSuffix(j.Origin.Path, j.Template), ".")
	return Origin{Document: j.Origin.Document, Path: path}
}

// SetOrigin returns the origin of the Job's JobSet. Of a runtime, it is what a JobSet is made of.
func (j Job) SetOrigin() Origin {
	before, _, _ := strings.Cut(j.Template, "spec.replicatedJobs")
	return j.Whole().at(strings.TrimSuffix(before, "."))
}

// Pod is a Pod and where it was read.
type Pod struct {
	Object *corev1.Pod
	Origin Origin
	// Namespace is where a Pod without a namespace would be created. "" means "default".
	Namespace string
	// Recorded is the verdict in a line of history, which was given when the Pod failed, or nil.
	Recorded *runtime.Verdict
}

// Reference names the Pod.
func (p Pod) Reference() Reference { return referenceTo(p.Object, p.Namespace) }

// Set is what was read, in the order of the input. Objects are as written: their namespaces may be empty, and Jobs
// and Pods have no defaults applied. The same Pod may be there several times, as in the output of kubectl get --watch.
type Set struct {
	Jobs []Job
	Pods []Pod
	// Policies and Bindings have the API's defaults, and may be invalid.
	Policies   []Policy
	Bindings   []Binding
	Namespaces []Namespace
	Nodes      []*corev1.Node
	// Lists counts the Lists read: an empty one says that there are no Pods, not that they were forgotten.
	Lists int
	// Skipped is what was read and is in none of these.
	Skipped Skipped

	passed    int // Pods that a Stream has passed on
	trainJobs []*trainJob
	runtimes  []*trainingRuntime
}

func (s *Set) add(other *Set) {
	s.Jobs = append(s.Jobs, other.Jobs...)
	s.Pods = append(s.Pods, other.Pods...)
	s.Policies = append(s.Policies, other.Policies...)
	s.Bindings = append(s.Bindings, other.Bindings...)
	s.Namespaces = append(s.Namespaces, other.Namespaces...)
	s.Nodes = append(s.Nodes, other.Nodes...)
	s.Lists += other.Lists
	s.Skipped.add(other.Skipped)
	s.trainJobs = append(s.trainJobs, other.trainJobs...)
	s.runtimes = append(s.runtimes, other.runtimes...)
}
