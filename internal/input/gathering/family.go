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
	// More reports whether the next Family has more Pods of the same Job, or of no Job, which are too many to be held in memory.
	More bool

	refuse func(manifest.Pod) error
	before int // number of Pods in earlier parts
}

// Others returns for each Pod of a Family without a Job why it belongs to no Job of the input.
func (f *Family) Others() []error {
	errs := make([]error, len(f.Pods))
	for i, pod := range f.Pods {
		errs[i] = f.refuse(pod)
	}
	return errs
}

// Families returns the Jobs by namespace and name, each with its Pods. The Pods of a Job that is not in the input are a Family without
// a Job.
//
//   - A Pod belongs to the Job that is its controller. Without a controller, it belongs to the Job of its namespace that its job-name
//     label names, unless there are several.
//   - If the Job is not in the input, but the CronJob, JobSet or Job with generateName from whose name its name is made, Families makes
//     it from that.
//   - If there is one Job, and no Pod has a controller or a label, all Pods belong to it.
//
// Of several records of one object, the Family has the best one (Record.better). Two Jobs of one name without UIDs are an error.
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

// Whole returns families with all Pods of their Jobs, whatever memory they need. Pods of no Job still come in parts.
func Whole(families iter.Seq2[Family, error]) iter.Seq2[Family, error] {
	return func(yield func(Family, error) bool) {
		var pods []manifest.Pod
		for f, err := range families {
			if f.More && f.Name != "" && err == nil {
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
	seen     map[uint64]int        // the numbers of Pods in their Family, by a hash of their identity
}

// add adds a record. The Jobs come before the Pods.
func (g *group) add(e entry) error {
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

// commit gives the pending Pod to its Job, unless that has a better record of it.
func (g *group) commit() {
	r := g.pending
	g.pending = Record{}
	if r.Pod == nil || g.stopped {
		return
	}
	f := g.familyOf(r)
	if r.Pod.Namespace == "" {
		r.Pod.Namespace = f.Namespace
	}
	if g.again(f, r) {
		return
	}
	if g.Long && len(f.Pods) == partPods && g.comesInParts(f) {
		part := *f
		part.More, f.Pods, f.before = true, nil, f.before+partPods
		g.stopped = !g.yield(part, nil)
	}
	f.Pods = append(f.Pods, g.podOf(r))
}

// again reports whether the Family has a Pod already, and if so keeps the better of its two records. They are not neighbours if the
// Pod ended at different times according to them. A part that was yielded is not changed.
func (g *group) again(f *Family, r Record) bool {
	id := r.identity()
	if id == "" {
		return false
	}
	h := maphash.String(g.hash, id)
	number, again := g.seen[h]
	if !again {
		if g.seen == nil {
			g.seen = map[uint64]int{}
		}
		g.seen[h] = f.before + len(f.Pods)
		return false
	}
	if i := number - f.before; i >= 0 && i < len(f.Pods) {
		pod := &f.Pods[i]
		if known := (Record{Pod: pod.Object, Verdict: pod.Recorded, Origin: pod.Origin}); r.same(known) && r.better(known) {
			*pod = g.podOf(r)
		}
	}
	return true
}

func (g *group) podOf(r Record) manifest.Pod {
	return manifest.Pod{Object: r.Pod, Origin: r.Origin, Namespace: g.namespace, Recorded: r.Verdict}
}

// comesInParts reports whether a Family may be yielded in parts. It must be the only one of its group: other families would come
// between the parts.
func (g *group) comesInParts(f *Family) bool {
	if f.Job == nil {
		return f.Name == "" && len(g.families) == 0
	}
	return len(g.families) == 1
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
