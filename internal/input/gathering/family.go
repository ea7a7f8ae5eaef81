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

// partPods is the maximum number of Pods in a Family of a long input.
const partPods = 5_000

// Family is a Job with its Pods.
type Family struct {
	Namespace string
	// Name is the name of the Job, or empty for Pods that name none.
	Name string
	// Job is nil if it is not in the input. It must not be changed.
	Job *manifest.Job
	// Pods are sorted by end time, then by name; Pods that have not ended come last.
	Pods []manifest.Pod
	// More reports whether the next Family has more Pods of the same Job, or of no Job, because they do not fit into memory together.
	More bool

	refuse func(manifest.Pod) error
	before int // number of Pods in earlier parts
}

// Others returns, for each Pod of a Family without a Job, the reason why it belongs to no Job of the input.
func (f *Family) Others() []error {
	errs := make([]error, len(f.Pods))
	for i, pod := range f.Pods {
		errs[i] = f.refuse(pod)
	}
	return errs
}

// Families returns the Jobs by namespace and name, each with its Pods. The Pods of a Job that is not in the input form a Family without a
// Job.
//
//   - A Pod belongs to the Job that controls it. Without a controller, it belongs to the Job of its namespace named in its job-name label,
//     unless there are several.
//   - If the Job is not in the input, but its name is derived from a CronJob, JobSet or Job with generateName in the input, Families
//     creates the Job from that object.
//   - If there is exactly one Job, and no Pod has a controller or a label, all Pods belong to that Job.
//
// If an object has several records, the Family has the best one (Record.better). Two Jobs of the same name without UIDs are an error.
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

// group collects the records with the same Job name, and yields families.
type group struct {
	*membership

	key     []byte
	yield   func(Family, error) bool
	stopped bool // yield has returned false

	jobs   []*manifest.Job // Jobs of the group's name
	models []*manifest.Job // objects of this name that create Jobs

	families []*Family             // families of the Jobs; nil until the first Pod
	others   map[types.UID]*Family // families of Pods without a Job, by the Job's UID
	pending  Record                // last Pod; the next record may be of the same Pod
	seen     map[uint64]int        // index of each Pod in its Family, by a hash of the Pod's identity
}

// add adds a record. The Jobs come before the Pods.
func (g *group) add(e entry) error {
	r := e.record
	switch {
	case r.Job != nil && g.single: // already in jobs
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

// commit adds the pending Pod to its Family, unless the Family has a better record of it.
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

// again reports whether the Family already has a Pod, and if so keeps the better of the two records. Such records are not adjacent if
// they give different end times for the Pod. Parts that were already yielded are not changed.
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

// comesInParts reports whether a Family may be yielded in parts. It must be the only one of its group: otherwise other families would
// come between the parts.
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

// begin creates the families of the Jobs. pod is the group's first Pod, or empty.
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
