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

// inTrainingRuntime is the path, in a runtime, of the spec of the JobSet that a TrainJob creates.
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

// replicasOnly holds the replicas of a JobSet as written. The API types cannot distinguish 0 from an absent value.
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

// children sets the defaults of a JobSet and returns one Job for each replicatedJob; spec is the path of the JobSet's spec in the object.
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

// JobSets maps the labels of Jobs to the Jobs that JobSets create.
type JobSets map[jobSetLabels]*Job

type jobSetLabels struct{ namespace, jobSet, replicatedJob string }

// Add adds the Job that a JobSet creates for one of its replicatedJobs.
func (s JobSets) Add(job *Job) {
	s[jobSetLabels{job.Reference().Namespace, job.JobSet.Name, job.ReplicatedJob}] = job
}

// Join sets the JobSet of a Job whose labels name one, unless it is set already. It returns the Job that the JobSet creates, or nil.
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
	// spec is the spec of the described JobSet.
	spec v1alpha2.JobSetSpec
	// own is the JobSet of a TrainJob without overrides, under the runtime's name.
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

// trainJob holds the fields of a TrainJob that affect its JobSet.
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

// addTrainJobs adds the Jobs of TrainJobs whose runtimes are in the input. They replace the runtimes' own Jobs.
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

// uses reports whether the TrainJob references a runtime. A TrainingRuntime must be in the same namespace.
func (job *trainJob) uses(r *trainingRuntime) bool {
	ref := job.Spec.RuntimeRef
	return ref.Kind == r.Kind && ref.Name == r.Name &&
		(r.Kind == "ClusterTrainingRuntime" || referenceTo(r, job.namespace).Namespace == referenceTo(job, job.namespace).Namespace)
}

// ancestorLabel names the role of a runtime's replicatedJob in a TrainJob.
const ancestorLabel = "trainer.kubeflow.org/trainjob-ancestor-step"

// jobSetOf returns the JobSet that Trainer creates for a TrainJob (pkg/runtime/framework/plugins/jobset), without Trainer's changes to
// containers.
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

// pods returns the number of Pods per Job of a replicatedJob. A TrainJob may override the number of nodes.
func (r *trainingRuntime) pods(of *v1alpha2.ReplicatedJob, nodes *int32) int32 {
	policy, trains := r.Spec.MLPolicy, of.Template.Labels[ancestorLabel] == "trainer"
	switch {
	case nodes != nil && policy.MPI != nil && of.Name == "node" && policy.MPI.RunLauncherAsNode:
		return max(*nodes-1, 1) // the launcher counts as one node
	case nodes != nil && (policy.MPI == nil && trains || policy.MPI != nil && of.Name == "node"):
		return *nodes
	case trains && policy.NumNodes != nil:
		return *policy.NumNodes
	}
	return ptr.Deref(of.Template.Spec.Parallelism, 1)
}
