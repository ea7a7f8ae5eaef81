package gathering

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"iter"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// partPods is how many Pods a Family of a long input has at most.
const partPods = 5_000

// Family is a Job with the Pods that belong to it.
type Family struct {
	Namespace string
	// Name is the name of the Job, which is empty for Pods that name none.
	Name string
	// Job is nil if it is not in the input. It must not be changed.
	Job *manifest.Job
	// Pods are in the order in which they ended, then by name; those that have not ended come last.
	Pods []manifest.Pod
	// More reports whether the next Family has more Pods of the same Job, which has too many to be held in memory.
	More bool

	refuse func(manifest.Pod) error
}

// Others returns for each Pod of a Family without a Job why it belongs to no Job of the input.
func (f *Family) Others() []error {
	errs := make([]error, len(f.Pods))
	for i, pod := range f.Pods {
		errs[i] = f.refuse(pod)
	}
	return errs
}

// Families returns the Jobs by namespace and name, each with its Pods, and where a Job is missing its Pods alone. A Pod belongs to the
// Job that is its controller, else to the one of its namespace that its job-name label names. A Job that only its Pods name is as the
// CronJob, JobSet or Job with generateName would make it that has its name. Pods without a controller and a label belong to the only
// Job, if no Pod of the input has either. Of several records of one object, the Family has the latest. Two Jobs of one name are an error.
func (g *Gathering) Families() iter.Seq2[Family, error] {
	return func(yield func(Family, error) bool) {
		m, err := newMembership(g)
		if err != nil {
			yield(Family{}, err)
			return
		}
		if err := m.eachGroup(yield); err != nil {
			yield(Family{}, err)
		}
	}
}

// eachGroup yields the families of each group of records.
func (m *membership) eachGroup(yield func(Family, error) bool) error {
	current := m.group(nil, yield)
	for e, err := range m.entries() {
		if err != nil {
			return err
		}
		if !m.single && !bytes.Equal(jobOfKey(e.key), current.key) {
			current.finish()
			stopped := current.stopped
			current = m.group(bytes.Clone(jobOfKey(e.key)), yield)
			current.stopped = stopped
		}
		if err := current.add(e); err != nil || current.stopped {
			return err
		}
	}
	current.finish()
	return nil
}

// Whole returns families with all Pods of their Jobs, whatever memory they need.
func Whole(families iter.Seq2[Family, error]) iter.Seq2[Family, error] {
	return func(yield func(Family, error) bool) {
		var pods []manifest.Pod
		for f, err := range families {
			if f.More && err == nil {
				pods = append(pods, f.Pods...)
				continue
			}
			if len(pods) > 0 {
				f.Pods, pods = append(pods, f.Pods...), nil
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// group is the records of one name, which become families.
type group struct {
	*membership

	key     []byte
	yield   func(Family, error) bool
	stopped bool // yield wants no more

	jobs   []*manifest.Job // of the name
	models []*manifest.Job // what makes Jobs under this name

	families []*Family             // of the Jobs; nil until the first Pod
	others   map[types.UID]*Family // of Pods without a Job, by its UID
	pending  Record                // a Pod that may come again
	seen     map[uint64]bool       // Pods, by a hash of their identity
}

// add adds a record. The Jobs come before the Pods.
func (g *group) add(e entry) error {
	if err := e.decode(); err != nil {
		return err
	}
	r := e.record
	switch {
	case r.Job != nil && g.single: // it is there already
	case e.job != nil && isModel(e.job):
		g.models = append(g.models, e.job)
	case r.Job != nil:
		return g.addJob(g.jobOf(e))
	case g.pending.Pod != nil && r.same(g.pending):
		if r.better(g.pending) {
			g.pending = r
		}
	default:
		g.commit()
		g.pending = r
	}
	return nil
}

func (g *group) addJob(job *manifest.Job) error {
	record := Record{Job: job.Object}
	for i, other := range g.jobs {
		if known := (Record{Job: other.Object}); record.same(known) {
			if record.better(known) {
				g.jobs[i] = job
			}
			return nil
		}
		if err := checkTwice(other, job); err != nil {
			return err
		}
	}
	g.jobs = append(g.jobs, job)
	return nil
}

// commit gives the pending Pod to its Job, unless that has it already.
func (g *group) commit() {
	r := g.pending
	g.pending = Record{}
	if r.Pod == nil || g.stopped {
		return
	}
	if id := r.identity(); id != "" {
		h := maphash.String(g.hash, id)
		if g.seen[h] {
			return
		}
		if g.seen == nil {
			g.seen = map[uint64]bool{}
		}
		g.seen[h] = true
	}
	f := g.familyOf(r)
	if r.Pod.Namespace == "" {
		r.Pod.Namespace = f.Namespace
	}
	f.Pods = append(f.Pods, manifest.Pod{Object: r.Pod, Origin: r.Origin, Namespace: g.namespace, Recorded: r.Verdict})
	if g.Long && f.Job != nil && len(g.families) == 1 && len(f.Pods) == partPods {
		part := *f
		part.More, f.Pods = true, nil
		g.stopped = !g.yield(part, nil)
	}
}

// familyOf returns the Family of a Pod.
func (g *group) familyOf(r Record) *Family {
	g.begin(r)
	claim, _ := manifest.ClaimOf(r.Pod)
	uid := cmp.Or(claim.UID, types.UID(r.Pod.Labels[batchv1.ControllerUidLabel]))
	for _, f := range g.families {
		if uid != "" && uid == f.Job.Object.UID || len(g.families) == 1 && g.fits(f.Job, r, uid) {
			return f
		}
	}
	if g.others == nil {
		g.others = map[types.UID]*Family{}
	}
	if g.others[uid] == nil {
		ref, _ := r.jobRef(g.namespace)
		g.others[uid] = &Family{Namespace: ref.Namespace, Name: ref.Name, refuse: g.refuse}
	}
	return g.others[uid]
}

// begin makes the families of the Jobs. Pod is the first one, if there is one.
func (g *group) begin(pod Record) {
	if g.families != nil {
		return
	}
	jobs := g.jobs
	for _, job := range jobs {
		g.joinJobSet(job)
	}
	if len(jobs) == 0 && pod.Pod != nil {
		if job := g.modelOf(pod); job != nil {
			jobs = []*manifest.Job{job}
		}
	}
	g.families = []*Family{}
	for _, job := range jobs {
		ref := job.Reference()
		g.families = append(g.families, &Family{Namespace: ref.Namespace, Name: ref.Name, Job: job})
	}
}

// finish yields the families of the group.
func (g *group) finish() {
	g.commit()
	g.begin(Record{})
	all := g.families
	for _, model := range g.models {
		if !g.made[model] && !slices.ContainsFunc(all, func(f *Family) bool { return f.Job == model }) {
			ref := model.Reference()
			all = append(all, &Family{Namespace: ref.Namespace, Name: ref.Name, Job: model})
		}
	}
	for _, uid := range slices.Sorted(maps.Keys(g.others)) {
		all = append(all, g.others[uid])
	}
	for _, f := range all {
		slices.SortStableFunc(f.Pods, func(a, b manifest.Pod) int {
			return cmp.Or(endOf(a.Object).Compare(endOf(b.Object)), cmp.Compare(a.Object.Name, b.Object.Name))
		})
		g.stopped = g.stopped || !g.yield(*f, nil)
	}
}
