package gathering

import (
	"bytes"
	"cmp"
	"errors"
	"hash/maphash"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// membership holds the state, apart from the Pods themselves, that determines which Jobs they belong to.
type membership struct {
	*Gathering

	// single reports whether all Pods belong to the only Job, because none names a Job or controller.
	single bool
	only   *manifest.Job

	models   map[manifest.Reference]*manifest.Job // CronJobs, Jobs of JobSets, and Jobs with generateName, keyed by generateName
	children manifest.JobSets
	made     map[*manifest.Job]bool // models with Jobs, or Pods of missing Jobs, in the input
	hash     maphash.Seed
}

// isModel reports whether other Jobs are created from this one, under their own names.
func isModel(job *manifest.Job) bool { return job.Template != "" || job.Object.Name == "" }

// newMembership collects the models. If there are any, it reads all entries to find those with Jobs in the input. Unless the input is
// long, it always reads all entries, to reject duplicate Jobs before the first Family.
func newMembership(g *Gathering) (*membership, error) {
	m := &membership{
		Gathering: g, single: g.Jobs == 1 && !g.claims && g.Pods > 0, hash: maphash.MakeSeed(),
		models: map[manifest.Reference]*manifest.Job{}, children: manifest.JobSets{}, made: map[*manifest.Job]bool{},
	}
	for i := range g.held {
		job := g.held[i].job
		if job == nil || !isModel(job) {
			continue
		}
		ref := job.Reference()
		if job.Object.Name == "" && m.models[ref] != nil {
			m.models[ref] = &manifest.Job{} // ambiguous: several Jobs have this generateName
			continue
		}
		m.models[ref] = job
		if job.JobSet != nil {
			m.children.Add(job)
		}
	}
	if g.Long && len(m.models) == 0 && !m.single {
		return m, nil
	}
	err := m.learn()
	return m, err
}

// learn reads all entries. It records which models have Jobs, or Pods of missing Jobs, in the input, and rejects duplicate Jobs.
func (m *membership) learn() error {
	var errs []error
	var key []byte
	var named, model *manifest.Job // Jobs of the current key
	for e, err := range m.entries() {
		if err != nil {
			return err
		}
		if !bytes.Equal(jobOfKey(e.key), key) {
			key, named, model = bytes.Clone(jobOfKey(e.key)), nil, nil
		}
		isPod := e.key[len(key)] == 'P'
		if isPod && (named != nil || model != nil) {
			continue
		}
		if isPod {
			m.modelOf(e.record)
			continue
		}
		m.only = m.jobOf(e)
		before := &named
		if isModel(m.only) {
			before = &model
		} else {
			m.joinJobSet(m.only)
		}
		errs = append(errs, checkTwice(*before, m.only))
		*before = cmp.Or(*before, m.only)
	}
	return errors.Join(errs...)
}

// checkTwice rejects two Jobs of the same name. It accepts them if both have UIDs, because one may have replaced the other, or if they
// are the same Job at different times.
func checkTwice(first, job *manifest.Job) error {
	switch {
	case first == nil, job.Object.Name == "", first.Object.UID != "" && job.Object.UID != "":
		return nil
	case Record{Job: first.Object}.same(Record{Job: job.Object}):
		return nil
	}
	return manifest.TwiceError(*first, *job)
}

// group returns an empty group for the records with the given key.
func (m *membership) group(key []byte, yield func(Family, error) bool) *group {
	g := &group{membership: m, key: key, yield: yield}
	if m.single {
		g.jobs = []*manifest.Job{m.only}
	}
	return g
}

// jobOf returns the Job of an entry.
func (m *membership) jobOf(e entry) *manifest.Job {
	if e.job != nil {
		return e.job
	}
	return &manifest.Job{Object: e.record.Job, Origin: e.record.Origin, Namespace: m.namespace}
}

// fits reports whether a Pod may belong to the only Job of its name. uid is the UID of the Pod's Job, if the Pod has it.
func (m *membership) fits(job *manifest.Job, pod Record, uid types.UID) bool {
	if m.single {
		return inNamespace(job, pod.Pod)
	}
	return uid == "" || job.Object.UID == "" || job.Object.UID == uid || job.MadeBy != ""
}

// inNamespace reports whether a Pod may be in the namespace of a Job: either may lack a namespace in the input.
func inNamespace(job *manifest.Job, pod *corev1.Pod) bool {
	return pod.Namespace == "" || job.Object.Namespace == "" || pod.Namespace == job.Object.Namespace
}

// madeName splits a generated Job name: a CronJob appends the minute at which the Job was due, a JobSet the index of the replica, and
// the API server five characters to a generateName.
var madeName = regexp.MustCompile(`^(.+)-(?:[0-9]+|[bcdfghjklmnpqrstvwxz2456789]{5})$`)

// modelOf returns the missing Job that a Pod names, as an object in the input would create it now, or nil.
func (m *membership) modelOf(pod Record) *manifest.Job {
	ref, _ := pod.jobRef(m.namespace)
	if model := m.models[ref]; model != nil && model.Object != nil && model.Object.Name != "" {
		return model
	}
	parts := madeName.FindStringSubmatch(ref.Name)
	if parts == nil {
		return nil
	}
	model := m.models[manifest.Reference{Namespace: ref.Namespace, Name: parts[1]}]
	if model == nil {
		model = m.models[manifest.Reference{Namespace: ref.Namespace, Name: parts[1] + "-"}]
	}
	if model == nil || model.Object == nil {
		return nil
	}
	m.made[model] = true
	job := *model
	job.Object, job.MadeBy = job.Object.DeepCopy(), job.Reference().Name
	job.Object.Name = ref.Name
	if job.JobSet != nil {
		job.Object.Labels[v1alpha2.JobIndexKey] = strings.TrimPrefix(ref.Name, parts[1]+"-")
	}
	return &job
}

// joinJobSet sets the JobSet of a Job, if the input has it.
func (m *membership) joinJobSet(job *manifest.Job) {
	if model := m.children.Join(job); model != nil {
		m.made[model] = m.made[model] || job.JobSet == model.JobSet
	}
}
