package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// world is an API server with one Job, and the lagging caches of a controller. It checks the invariants.
type world struct {
	fail func(format string, args ...any)

	job      *batchv1.Job
	pods     map[string]*corev1.Pod // values are replaced, never changed
	version  int
	now      time.Time
	settings Settings

	jobs     []*batchv1.Job  // all states of the Job, in order
	podLists [][]*corev1.Pod // all states of the pods, in order
	seenJob  int             // the state in the controller's cache
	seenPods int
	created  map[int]*corev1.Pod // pods by the state that their creation made; the controller remembers its own

	hostile bool // an intruder interferes: pods and counters cannot be checked
	earlier bool // the controller is an earlier version, which names pods differently

	rules    *ruleModel // custom rules, or nil
	volatile bool       // whether the rules are volatile
	court    *court     // changing rules, or nil
	attempts *attemptModel
	reads    bool // whether rules read attempts
	kept     Kept
	lean     bool // whether only cached state is checked
	scaled   bool // whether completions have changed

	events  []string
	history []string // log of changes, printed when a check fails
	// mustFail has the pods that must be counted as failed in the end, mayFail those that may be.
	mustFail, mayFail map[types.UID]bool
	// forgotten has the pods of slots that the status had as completed when completions fell below them.
	forgotten map[types.UID]bool
	// mustSucceed has the slots that must be completed in the end, maySucceed those that may be.
	mustSucceed, maySucceed map[int]bool
}

func newWorld(fail func(format string, args ...any), b jobBuilder) *world {
	w := &world{
		job: b.job(), pods: map[string]*corev1.Pod{}, created: map[int]*corev1.Pod{}, now: epoch,
		mustFail: map[types.UID]bool{}, mayFail: map[types.UID]bool{}, mustSucceed: map[int]bool{}, maySucceed: map[int]bool{},
		forgotten: map[types.UID]bool{},
	}
	w.fail = func(format string, args ...any) {
		fail("%s\n%s", fmt.Sprintf(format, args...), strings.Join(w.history, "\n"))
	}
	w.changedJob()
	w.changedPods()
	return w
}

func (w *world) changedJob() {
	w.version++
	w.job = w.job.DeepCopy()
	w.job.ResourceVersion = strconv.Itoa(w.version)
	w.jobs = append(w.jobs, w.job)
	if !w.lean {
		w.history = append(w.history, fmt.Sprintf("%d: Job, completions %v, parallelism %d, suspend %v: %s", w.version,
			ptr.Deref(w.job.Spec.Completions, -1), *w.job.Spec.Parallelism, *w.job.Spec.Suspend, statusText(w.job)))
	}
}

func (w *world) changedPods() {
	list := slices.SortedFunc(maps.Values(w.pods), func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	w.podLists = append(w.podLists, list)
	if !w.hostile {
		w.checkPods()
	}
}

// update changes a pod, and removes it when nothing holds it.
func (w *world) update(name string, change func(*corev1.Pod)) {
	p := w.pods[name].DeepCopy()
	change(p)
	w.version++
	p.ResourceVersion = strconv.Itoa(w.version)
	w.pods[name] = p
	w.history = append(w.history, fmt.Sprintf("%d: %s %s, deleted %v, finalizers %d", w.version, name, p.Status.Phase, p.DeletionTimestamp != nil, len(p.Finalizers)))
	w.record(p)
	if gone := p.DeletionTimestamp != nil && len(p.Finalizers) == 0 && (podView(p).terminal() || p.Spec.NodeName == ""); gone {
		delete(w.pods, name)
	}
	w.changedPods()
}

// podView returns a pod as in a plan, without the parts that depend on the Job.
func podView(p *corev1.Pod) *pod { return &pod{Pod: p} }

// record records the counters that a pod must and may increase.
func (w *world) record(p *corev1.Pod) {
	slot, attempt, _ := newNamer(w.job).parse(p.Name)
	held := slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer)
	ended := hasCondition(w.job, batchv1.JobComplete) || hasCondition(w.job, batchv1.JobFailed)
	if !held || ended {
		return
	}
	switch {
	case p.Status.Phase == corev1.PodSucceeded:
		w.maySucceed[slot] = true
		if !w.mayFail[p.UID] && !w.beyond(slot) {
			w.mustSucceed[slot] = true
		}
	case p.Status.Phase == corev1.PodFailed:
		w.rules.fails(p, slot, attempt)
		switch {
		case w.rules.matches(p):
			w.rules.record(p, slot)
		case w.court != nil:
			w.mayFail[p.UID] = true
		case w.judge(p):
			w.mustFail[p.UID], w.mayFail[p.UID] = true, true
		}
	case p.DeletionTimestamp != nil:
		w.mayFail[p.UID] = true
	}
}

// beyond reports whether the Job, as the controller may see it, lacks a slot. A pod there is released, whatever its
// outcome.
func (w *world) beyond(slot int) bool {
	return slices.ContainsFunc(w.jobs[w.seenJob:], func(j *batchv1.Job) bool {
		return j.Spec.Completions != nil && slot >= int(*j.Spec.Completions)
	})
}

// judge reports whether a failed pod counts.
func (w *world) judge(p *corev1.Pod) bool {
	return w.job.Spec.PodFailurePolicy == nil && w.rules == nil || judge(p).Counted
}

// checkPods checks that no slot has two active pods, and that no more pods than parallelism are active.
func (w *world) checkPods() {
	active := map[int][]string{}
	total := 0
	for _, p := range w.pods {
		if slot, _, ok := newNamer(w.job).parse(p.Name); ok && podView(p).active() {
			active[slot] = append(active[slot], p.Name)
			total++
		}
	}
	for slot, names := range active {
		if len(names) > 1 {
			w.fail("slot %d has active pods %v", slot, names)
		}
	}
	if limit := w.parallelism(); total > limit {
		w.fail("%d pods are active, parallelism was at most %d", total, limit)
	}
}

// parallelism returns the highest parallelism that the Job had.
func (w *world) parallelism() int {
	highest := int32(0)
	for _, j := range w.jobs {
		highest = max(highest, *j.Spec.Parallelism)
	}
	return int(highest)
}

// observe returns the controller's observation.
func (w *world) observe() Observation {
	o := Observation{Job: w.jobs[w.seenJob], Pods: slices.Clone(w.podLists[w.seenPods]), Now: w.now, Current: true, Settings: w.settings}
	for state, p := range w.created {
		if state > w.seenPods {
			o.Pods = append(o.Pods, p)
		}
	}
	if o.Job.Spec.PodFailurePolicy != nil {
		o.Judge = judged
	}
	if w.rules != nil {
		o.Judge, o.Volatile = w.rules.judge, w.volatile
	}
	w.court.preside(&o)
	o.ReadsAttempts = o.ReadsAttempts || w.reads
	w.attempts.read(w, &o)
	return o
}

// next returns the Plan for the controller's observation.
func (w *world) next() Plan {
	o := w.observe()
	p := Next(o)
	w.checkKept(o, p)
	if w.lean {
		return p
	}
	if len(p.Problems) > 0 && !w.hostile {
		w.fail("what a Plan wrote is no good to the next one: %v", p.Problems)
	}
	w.checkFailedIndexes(o, p)
	w.rules.check(w, o, p)
	w.court.check(w, o, p)
	w.attempts.check(w, o, p)
	w.checkOutlook(o, p)
	return p
}

// checkFailedIndexes checks that no index fails while a pod works on it.
func (w *world) checkFailedIndexes(o Observation, p Plan) {
	if w.hostile || p.Write == nil {
		return
	}
	before := parseIndexes(ptr.Deref(o.Job.Status.FailedIndexes, ""), maxNumber)
	failed := parseIndexes(ptr.Deref(p.Write.Status.FailedIndexes, ""), maxNumber).minus(before)
	for _, pod := range o.Pods {
		slot, _, _ := newNamer(o.Job).parse(pod.Name)
		if failed.has(slot) && podView(pod).active() && slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			w.fail("index %d fails while %s works on it: %s", slot, pod.Name, statusText(p.Write))
		}
	}
}

// catchUp updates the caches to the newest state.
func (w *world) catchUp() { w.seenJob, w.seenPods = len(w.jobs)-1, len(w.podLists)-1 }

// calls returns the calls of a Plan, each safe without the others.
func (w *world) calls(p Plan) []func() {
	var calls []func()
	for _, released := range slices.Concat(p.Release, p.Free) {
		calls = append(calls, func() { w.release(released) })
	}
	for _, dismissed := range p.Dismiss {
		calls = append(calls, func() { w.dismiss(dismissed) })
	}
	for _, deleted := range p.Delete {
		calls = append(calls, func() { w.delete(deleted) })
	}
	for _, created := range p.Create {
		calls = append(calls, func() { w.create(created) })
	}
	if p.Write != nil {
		calls = append(calls, func() { w.write(p) })
	}
	return calls
}

func (w *world) stored(p *corev1.Pod) bool {
	stored := w.pods[p.Name]
	return stored != nil && stored.UID == p.UID
}

func (w *world) release(p *corev1.Pod) bool {
	unchanged := w.stored(p) && w.pods[p.Name].ResourceVersion == p.ResourceVersion
	if unchanged {
		if w.court != nil && p.Status.Phase == corev1.PodFailed {
			w.court.letGo[p.UID] = true
		}
		w.update(p.Name, func(p *corev1.Pod) { p.Finalizers = nil })
	}
	return unchanged
}

func (w *world) dismiss(p *corev1.Pod) {
	if w.stored(p) && !podView(w.pods[p.Name]).terminal() && w.release(w.pods[p.Name]) {
		w.delete(p)
	}
}

func (w *world) delete(p *corev1.Pod) {
	if !w.stored(p) || w.pods[p.Name].DeletionTimestamp != nil {
		return
	}
	w.update(p.Name, func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(w.now)), new(int64(0))
	})
}

func (w *world) create(p *corev1.Pod) {
	if w.earlier {
		p = podBuilder{p.DeepCopy()}.earlier().p
	}
	if w.pods[p.Name] != nil {
		return // AlreadyExists: done
	}
	slot, attempt, ok := newNamer(w.job).parse(p.Name)
	if !ok {
		w.fail("pod %s has no slot", p.Name)
	}
	for _, other := range w.pods {
		if s, a, _ := newNamer(w.job).parse(other.Name); s == slot && a >= attempt && !w.hostile {
			w.fail("attempt %d at slot %d is created when attempt %d is there", attempt, slot, a)
		}
	}
	w.version++
	created := p.DeepCopy()
	created.UID = types.UID("uid-" + strconv.Itoa(w.version))
	created.ResourceVersion = strconv.Itoa(w.version)
	created.CreationTimestamp = metav1.NewTime(w.now)
	created.Status.Phase = corev1.PodPending
	w.pods[p.Name] = created
	w.attempts.created(created)
	w.rules.created(w, created)
	w.history = append(w.history, fmt.Sprintf("%d: %s created", w.version, p.Name))
	w.changedPods()
	w.created[len(w.podLists)-1] = created
}

func (w *world) write(p Plan) {
	if p.Write.ResourceVersion != w.job.ResourceVersion {
		return // Conflict
	}
	if !w.lean {
		w.checkWrite(p.Write)
	}
	w.job = p.Write
	w.changedJob()
	for _, e := range p.Events {
		w.events = append(w.events, e.Reason)
	}
	if !w.hostile {
		w.checkCounters()
	}
}

// checkWrite checks a new status against the API server's rules.
func (w *world) checkWrite(written *batchv1.Job) {
	broken, err := brokenStatusRules(w.job, written)
	if err != nil || broken != "" {
		w.fail("the write breaks status rules: %s%v\nfrom %s\nto   %s", broken, err, statusText(w.job), statusText(written))
	}
	w.checkCompleted(w.job.Status.CompletedIndexes, written.Status.CompletedIndexes)
}

// checkCompleted checks that an index that the status had dropped only completes again with a new succeeded pod. The pod
// may be only in the cache.
func (w *world) checkCompleted(before, after string) {
	was, is := parseIndexes(before, maxNumber), parseIndexes(after, maxNumber)
	earned := map[int]bool{}
	for _, p := range slices.Concat(slices.Collect(maps.Values(w.pods)), w.podLists[w.seenPods]) {
		slot, _, _ := newNamer(w.job).parse(p.Name)
		if w.forgotten[p.UID] = w.forgotten[p.UID] || was.has(slot) && !is.has(slot); !w.forgotten[p.UID] && p.Status.Phase == corev1.PodSucceeded {
			earned[slot] = true
		}
	}
	for slot := range is.all() {
		if !was.has(slot) && !earned[slot] && !w.hostile {
			w.fail("index %d is completed by a pod that succeeded before the index was forgotten", slot)
		}
	}
}

// checkCounters compares the counters with the pods' outcomes: at most the pods that may be counted, and all that must be
// when the Job ends.
func (w *world) checkCounters() {
	s := w.job.Status
	if int(s.Failed) > len(w.mayFail) {
		w.fail("status.failed is %d, only %d pods may count: %s", s.Failed, len(w.mayFail), statusText(w.job))
	}
	if int(s.Succeeded) > len(w.maySucceed) {
		w.fail("status.succeeded is %d, only %d slots may count: %s", s.Succeeded, len(w.maySucceed), statusText(w.job))
	}
	if !w.ended() {
		return
	}
	if int(s.Failed) < len(w.mustFail) {
		w.fail("the Job ends with status.failed %d, %d pods must count: %s", s.Failed, len(w.mustFail), statusText(w.job))
	}
	if int(s.Succeeded) < len(w.mustSucceed) {
		w.fail("the Job ends with status.succeeded %d, %d slots must count: %s", s.Succeeded, len(w.mustSucceed), statusText(w.job))
	}
}

func (w *world) ended() bool {
	return hasCondition(w.job, batchv1.JobComplete) || hasCondition(w.job, batchv1.JobFailed)
}

func statusText(j *batchv1.Job) string {
	text, err := json.Marshal(j.Status)
	return fmt.Sprintf("%s %v", text, err)
}
