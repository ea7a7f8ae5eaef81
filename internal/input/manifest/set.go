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

// Reference names an object. If the object has no namespace, Namespace is the one in which it would be created.
type Reference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

func (r Reference) String() string { return r.Namespace + "/" + r.Name }

// referenceTo returns the reference of an object. For an object with generateName only, the prefix serves as the name.
func referenceTo(object metav1.Object, namespace string) Reference {
	return Reference{
		cmp.Or(object.GetNamespace(), namespace, metav1.NamespaceDefault), cmp.Or(object.GetName(), object.GetGenerateName()),
	}
}

// Job is a Job with its origin.
type Job struct {
	Object *batchv1.Job
	Origin Origin
	// CronJob is set if a CronJob creates the Job; the Job then has the CronJob's name.
	CronJob *batchv1.CronJob
	// Template is the path to the Job in the object that was read: "" for a Job, spec.jobTemplate for a CronJob.
	Template string
	// JobSet is set if a JobSet creates the Job, directly or for a TrainJob. It has JobSet's defaults. The Job then represents every
	// index of ReplicatedJob.
	JobSet        *v1alpha2.JobSet
	ReplicatedJob string
	// MadeBy is set if the input has a Pod of the Job but not the Job; it names the presumed creator of the Job.
	MadeBy string
	// Namespace is the default namespace of a Job without one. "" means "default".
	Namespace string
}

// Reference returns the Job's reference.
func (j Job) Reference() Reference { return referenceTo(j.Object, j.Namespace) }

// Maker returns the reference of the object that creates the Job, or of the Job if it is in the input.
func (j Job) Maker() Reference {
	return Reference{j.Reference().Namespace, cmp.Or(j.MadeBy, j.Reference().Name)}
}

// Whole returns the origin of the object that was read: the Job, or the object that creates it.
func (j Job) Whole() Origin {
	path := strings.TrimSuffix(strings.TrimSuffix(j.Origin.Path, j.Template), ".")
	return Origin{Document: j.Origin.Document, Path: path}
}

// SetOrigin returns the origin of the Job's JobSet. In a runtime, this is the template of the JobSet.
func (j Job) SetOrigin() Origin {
	before, _, _ := strings.Cut(j.Template, "spec.replicatedJobs")
	return j.Whole().at(strings.TrimSuffix(before, "."))
}

// Pod is a Pod with its origin.
type Pod struct {
	Object *corev1.Pod
	Origin Origin
	// Namespace is the default namespace of a Pod without one. "" means "default".
	Namespace string
	// Recorded is the verdict from a line of history, decided when the Pod failed, or nil.
	Recorded *runtime.Verdict
}

// Reference returns the Pod's reference.
func (p Pod) Reference() Reference { return referenceTo(p.Object, p.Namespace) }

// Set holds the objects that were read, in input order. Objects are as written: namespaces may be empty, and Jobs and Pods have no
// defaults applied. A Pod may occur several times, as in the output of kubectl get --watch.
type Set struct {
	Jobs []Job
	Pods []Pod
	// Policies and Bindings have the API's defaults, and may be invalid.
	Policies   []Policy
	Bindings   []Binding
	Namespaces []Namespace
	Nodes      []*corev1.Node
	// Lists counts the Lists read: an empty List means that there are no Pods, not that the user omitted them.
	Lists int
	// Skipped counts the input that is in none of the other fields.
	Skipped Skipped

	passed    int // number of Pods that a Stream has passed on
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
