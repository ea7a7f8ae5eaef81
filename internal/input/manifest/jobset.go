package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/internal/kube/jobset"
)

const trainerVersion = "trainer.kubeflow.org/v1alpha1"

// inTrainingRuntime is where a runtime has the spec of the JobSet that a TrainJob makes of it.
const inTrainingRuntime = "spec.template.spec"

func (c *content) jobSet(o Origin, value []byte, h header) {
	var set v1alpha2.JobSet
	var written struct {
		Spec replicasOnly `json:"spec"`
	}
	if c.named(o, h) && c.strict(o, value, &set) && c.lenient(o, value, &written) {
		written.Spec.setDefault(&set.Spec)
		c.Jobs = append(c.Jobs, children(&set, o, "spec", c.options.Namespace)...)
	}
}

// replicasOnly are the replicas of a JobSet as written. In the types of the API, 0 may mean that there are none.
type replicasOnly struct {
	ReplicatedJobs []struct {
		Replicas *int32 `json:"replicas"`
	} `json:"replicatedJobs"`
}

func (r replicasOnly) setDefault(spec *v1alpha2.JobSetSpec) {
	for i, written := range r.ReplicatedJobs {
		if written.Replicas == nil {
			spec.ReplicatedJobs[i].Replicas = 1
		}
	}
}

// children sets the defaults of a JobSet, whose spec is in a field of an object, and returns one Job for each replicatedJob.
func children(set *v1alpha2.JobSet, o Origin, spec, namespace string) (jobs []Job) {
	set.Name = cmp.Or(set.Name, set.GenerateName)
	jobset.SetDefaults(set)
	for i := range set.Spec.ReplicatedJobs {
		replicated := &set.Spec.ReplicatedJobs[i]
		replicated.Name = cmp.Or(replicated.Name, strconv.Itoa(i))
		job := jobset.Child(set, replicated, 0)
		job.Name = set.Name + "-" + replicated.Name
		template := fmt.Sprintf("%s.replicatedJobs[%d].template", spec, i)
		jobs = append(jobs, Job{
			Object: job, Origin: o.at(template), Template: template, Namespace: namespace, JobSet: set, ReplicatedJob: replicated.Name,
		})
	}
	return jobs
}

// JobSets has what JobSets make, by the labels of the Jobs.
type JobSets map[jobSetLabels]*Job

type jobSetLabels struct{ namespace, jobSet, replicatedJob string }

// Add adds the Job that a JobSet makes of one of its replicatedJobs.
func (s JobSets) Add(job *Job) {
	s[jobSetLabels{job.Reference().Namespace, job.JobSet.Name, job.ReplicatedJob}] = job
}

// Join sets the JobSet of a Job that has the labels of one, unless it is known. It returns what that JobSet makes, or nil.
func (s JobSets) Join(job *Job) *Job {
	labels := job.Object.Labels
	made := s[jobSetLabels{job.Reference().Namespace, labels[v1alpha2.JobSetNameKey], labels[v1alpha2.ReplicatedJobNameKey]}]
	if made != nil && job.JobSet == nil {
		job.JobSet, job.ReplicatedJob = made.JobSet, made.ReplicatedJob
	}
	return made
}

type trainingRuntime struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		MLPolicy struct {
			NumNodes *int32 `json:"numNodes"`
			MPI      *struct {
				RunLauncherAsNode bool `json:"runLauncherAsNode"`
			} `json:"mpi"`
		} `json:"mlPolicy"`
		Template struct {
			metav1.ObjectMeta `json:"metadata"`
			Spec              json.RawMessage `json:"spec"`
		} `json:"template"`
	} `json:"spec"`

	origin Origin
	// spec is that of the JobSet that it describes.
	spec v1alpha2.JobSetSpec
	// own is the JobSet of a TrainJob that asks for nothing, under the runtime's name.
	own *v1alpha2.JobSet
}

// runtime reads the Jobs that a runtime describes.
func (c *content) runtime(o Origin, value []byte, h header) {
	r := &trainingRuntime{origin: o}
	if !c.named(o, h) || !c.lenient(o, value, r) || r.Spec.Template.Spec == nil {
		return
	}
	var written replicasOnly
	at := o.at(inTrainingRuntime)
	if !c.strict(at, r.Spec.Template.Spec, &r.spec) || !c.lenient(at, r.Spec.Template.Spec, &written) {
		return
	}
	written.setDefault(&r.spec)
	r.own = r.jobSetOf(&trainJob{ObjectMeta: r.ObjectMeta})
	c.runtimes = append(c.runtimes, r)
	c.Jobs = append(c.Jobs, children(r.own, o, inTrainingRuntime, c.options.Namespace)...)
}

// trainJob is a TrainJob of which no more is read than what its JobSet depends on.
type trainJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		RuntimeRef struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
		} `json:"runtimeRef"`
		Trainer struct {
			NumNodes *int32 `json:"numNodes"`
		} `json:"trainer"`
	} `json:"spec"`

	namespace string
}

func (c *content) trainJob(o Origin, value []byte, h header) {
	job := &trainJob{namespace: c.options.Namespace}
	if !c.named(o, h) || !c.lenient(o, value, job) {
		return
	}
	job.Spec.RuntimeRef.Kind = cmp.Or(job.Spec.RuntimeRef.Kind, "ClusterTrainingRuntime")
	c.trainJobs = append(c.trainJobs, job)
}

// addTrainJobs adds the Jobs of TrainJobs whose runtimes are in the input. They stand in for those of the runtimes.
func (s *Set) addTrainJobs() {
	for _, job := range s.trainJobs {
		i := slices.IndexFunc(s.runtimes, job.uses)
		if i < 0 {
			s.Skipped.count(fmt.Sprintf("TrainJob without its %s %s", job.Spec.RuntimeRef.Kind, job.Spec.RuntimeRef.Name), 1)
			continue
		}
		r := s.runtimes[i]
		s.Jobs = slices.DeleteFunc(s.Jobs, func(j Job) bool { return j.JobSet == r.own })
		s.Jobs = append(s.Jobs, children(r.jobSetOf(job), r.origin, inTrainingRuntime, job.namespace)...)
	}
	s.trainJobs, s.runtimes = nil, nil
}

// uses reports whether the TrainJob names a runtime. A TrainingRuntime is of the same namespace.
func (job *trainJob) uses(r *trainingRuntime) bool {
	ref := job.Spec.RuntimeRef
	return ref.Kind == r.Kind && ref.Name == r.Name &&
		(r.Kind == "ClusterTrainingRuntime" || referenceTo(r, job.namespace).Namespace == referenceTo(job, job.namespace).Namespace)
}

// ancestorLabel says what a replicatedJob of a runtime does for a TrainJob.
const ancestorLabel = "trainer.kubeflow.org/trainjob-ancestor-step"

// jobSetOf returns the JobSet that Trainer makes for a TrainJob (pkg/runtime/framework/plugins/jobset). What it changes in
// containers is left out.
func (r *trainingRuntime) jobSetOf(job *trainJob) *v1alpha2.JobSet {
	set := &v1alpha2.JobSet{ObjectMeta: metav1.ObjectMeta{Name: cmp.Or(job.Name, job.GenerateName), Namespace: job.Namespace}, Spec: *r.spec.DeepCopy()}
	for i := range set.Spec.ReplicatedJobs {
		replicated := &set.Spec.ReplicatedJobs[i]
		if replicated.Template.Labels[ancestorLabel] != "" {
			replicated.Replicas = 1
		}
		pods := r.pods(replicated, job.Spec.Trainer.NumNodes)
		replicated.Template.Spec.Parallelism, replicated.Template.Spec.Completions = &pods, &pods
	}
	return set
}

// pods returns how many Pods each Job of a replicatedJob has. A TrainJob may ask for a number of nodes.
func (r *trainingRuntime) pods(of *v1alpha2.ReplicatedJob, nodes *int32) int32 {
	policy, trains := r.Spec.MLPolicy, of.Template.Labels[ancestorLabel] == "trainer"
	switch {
	case nodes != nil && policy.MPI != nil && of.Name == "node" && policy.MPI.RunLauncherAsNode:
		return max(*nodes-1, 1) // the launcher is one
	case nodes != nil && (policy.MPI == nil && trains || policy.MPI != nil && of.Name == "node"):
		return *nodes
	case trains && policy.NumNodes != nil:
		return *policy.NumNodes
	}
	return ptr.Deref(of.Template.Spec.Parallelism, 1)
}
