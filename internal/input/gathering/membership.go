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

// membership has what decides, besides the Pods themselves, which Jobs they belong to.
type membership struct {
	*Gathering

	// single reports whether all Pods are for the only Job, because none says whose it is.
	single bool
	only   *manifest.Job

	models   map[manifest.Reference]*manifest.Job // CronJobs, Jobs of JobSets, and Jobs with generateName by that
	children manifest.JobSets
	made     map[*manifest.Job]bool // models with Jobs, or Pods of missing Jobs, in the input
	hash     maphash.Seed
}

// isModel reports whether other Jobs are made from this one, under names of their own.
func isModel(job *manifest.Job) bool { return job.Template != "" || job.Object.Name == "" }

// newMembership collects the models. If there are any, it reads all entries to find those with Jobs in the input. It always does so
// unless the input is long, to refuse two Jobs of one name before the first Family.
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

// learn reads all entries. It records which models have Jobs, or Pods of missing Jobs, in the input, and refuses two Jobs of one name.
func (m *membership) learn() error {
	var errs []error
	var key []byte
	var named, model *manifest.Job // of the key
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

// checkTwice refuses two Jobs of one name. They are legal if both have UIDs, because one may have followed the other, and if they are
// one Job at two times.
func checkTwice(first, job *manifest.Job) error {
	switch {
	case first == nil, job.Object.Name == "", first.Object.UID != "" && job.Object.UID != "":
		return nil
	case Record{Job: first.Object}.same(Record{Job: job.Object}):
		return nil
	}
	return manifest.TwiceError(*first, *job)
}

// group returns an empty group of the records with a key.
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

// fits reports whether a Pod may belong to the only Job of its name. UID is that of the Pod's Job, if the Pod says it.
func (m *membership) fits(job *manifest.Job, pod Record, uid types.UID) bool {
	if m.single {
		return inNamespace(job, pod.Pod)
	}
	return uid == "" || job.Object.UID == "" || job.Object.UID == uid || job.MadeBy != ""
}

// inNamespace reports whether a Pod may be in the namespace of a Job: the input need not name both.
func inNamespace(job *manifest.Job, pod *corev1.Pod) bool {
	return pod.Namespace == "" || job.Object.Namespace == "" || pod.Namespace == job.Object.Namespace
}

// madeName splits the name of a Job that something else has named: a CronJob appends the minute it was due, a JobSet the number of
// the replica, and the API server five characters to a generateName.
var madeName = regexp.MustCompile(`^(.+)-(?:[0-9]+|[bcdfghjklmnpqrstvwxz2456789]{5})$`)

// modelOf returns the Job that a Pod names and the input lacks, as what is in the input would make it now, or nil.
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

// joinJobSet records in a Job which JobSet of the input it belongs to.
func (m *membership) joinJobSet(job *manifest.Job) {
	if model := m.children.Join(job); model != nil {
		m.made[model] = m.made[model] || job.JobSet == model.JobSet
	}
}
