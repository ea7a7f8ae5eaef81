package plan

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/runtime"
)

// view is an Observation and the state derived from it.
type view struct {
	Observation
	terms
	pods
	decisions

	settings        Settings
	failedPodsLimit int
	problems        []error // problems of the Job
	namer           namer
	ledger          ledger
	recorded        bool // whether the Job has a readable ledger
	losing          bool // whether the ledger is lost but does not record that yet
	deleting        bool
	stored          stored
}

// terms are the assumptions that a Plan makes about all pods. If they change, all pods are read again.
type terms struct {
	owner             Owner
	indexed, perIndex bool
	completions       int   // math.MaxInt if unset
	limitPerIndex     int64 // only used with perIndex
	onlyFailed        bool
	judges            bool
	attempts          bool // whether rules read attempts
	volatile          bool // whether rules may have changed since they decided on some pod
	stage             stage
}

// stored has the records of slots and pods in the status and the ledger.
type stored struct {
	completedText, failedText string
	limit                     int // limit used to parse both texts
	// completed and failed are the slots recorded as completed or finally failed.
	completed, failed indexes
	// releasing has the pods that are counted although they have the finalizer.
	releasing map[types.UID]bool
}

// pods has a Job's pods, and the state derived from them.
type pods struct {
	byName map[string][]*pod
	slots  map[int]*slot
	// dirty has the numbers of slots whose state may have changed, marked the slots that need a Plan's attention.
	dirty  map[int]bool
	marked map[int]*slot
	totals totals
	// completed and failedIndexes are slots. No pod may be created for the slots in taken.
	completed, failedIndexes, taken indexes
	// assumed has the slots that are assumed completed because the ledger was lost.
	assumed indexes

	// ended lists the held pods that are not active, by place.
	ended []*pod
	// byFailure and bySuccess list the failed and the succeeded pods in the order in which they finished.
	byFailure, bySuccess []*pod
	// failures lists the failed attempts by line, if rules read attempts. bare is the number of pods that do not carry
	// the attempts before them.
	failures map[int][]*pod
	bare     int
	// limited has the failed pods that match a rule with a budget, faulty the pods with problems.
	limited, faulty map[*pod]bool
}

func newPods() pods {
	return pods{
		byName: map[string][]*pod{}, slots: map[int]*slot{}, dirty: map[int]bool{}, marked: map[int]*slot{},
		failures: map[int][]*pod{}, limited: map[*pod]bool{}, faulty: map[*pod]bool{},
	}
}

// decisions are the effects of budgets on failures in this Plan.
type decisions struct {
	// budgets has the ledger's budgets after this Plan's decisions, entries is the number of pods in them, and tooMany is
	// true if there is no room for a rule.
	budgets map[string]budget
	entries int
	tooMany bool
	// unstored is true if a pod's decision is unstored, crowded if one is postponed.
	unstored, crowded bool
}

// stage is a Job's progress, by its stored conditions.
type stage uint8

const (
	jobWorking    stage = iota
	jobSucceeding       // SuccessCriteriaMet
	jobFailing          // FailureTarget
	jobFinished         // Complete or Failed
)

// Finished reports whether the Job has the condition Complete or Failed.
func Finished(job *batchv1.Job) bool {
	return hasCondition(job, batchv1.JobComplete) || hasCondition(job, batchv1.JobFailed)
}

func stageOf(job *batchv1.Job) stage {
	switch {
	case Finished(job):
		return jobFinished
	case hasCondition(job, batchv1.JobSuccessCriteriaMet):
		return jobSucceeding
	case hasCondition(job, batchv1.JobFailureTarget):
		return jobFailing
	default:
		return jobWorking
	}
}

// decision describes whether the meaning of a pod's failure is decided. It always is, unless the pod's rule has a budget for
// the Job.
type decision uint8

const (
	// known means that the rule has no budget or the ledger has the decision.
	known decision = iota
	// unstored means that this Plan decides. Nothing may depend on the decision until the ledger is stored.
	unstored
	// postponed means that the ledger has no room for the decision.
	postponed
)

// pod is one of the Job's pods.
type pod struct {
	*corev1.Pod

	// slot is the completion index, or for a Job without indexes the number in the pod's name. It is none for a pod that
	// Next did not name and that has no valid index.
	slot    int
	attempt int // none if Next did not name the pod
	// held is true if the pod has the tracking finalizer, so it cannot vanish.
	held bool
	// releasing is true if the ledger has counted the pod.
	releasing bool
	// failed is true if the pod counts as failed, whatever the verdict.
	failed bool
	// judged is the verdict on a failed pod, and verdict the result after budgets.
	judged, verdict *runtime.Verdict
	finish          time.Time // finish time of a failed or succeeded pod

	// earlier has the attempts before the pod, or nil if they are not read yet.
	earlier *history
	// rule is the key of the rule with a budget that the failed pod matches.
	rule string
	// matches has the earlier matches at its index, by rule; matched is true if the pod adds one.
	matches matches
	matched bool
	// within lists the rules with a budget for the Job under which the ledger lists the pod.
	within   []string
	decision decision
	problems []error
}

// none is the slot or attempt of a pod without one.
const none = -1

func observe(o Observation) *view {
	v := &view{}
	v.read(o)
	v.rebuild(o.Pods)
	return v
}

// read reads everything but the pods.
func (v *view) read(o Observation) {
	spec := &o.Job.Spec
	v.Observation = o
	v.Pods, v.problems = nil, nil
	v.settings = o.Settings.withDefaults()
	v.namer = newNamer(o.Job)
	v.deleting = o.Job.DeletionTimestamp != nil
	v.tune()
	if v.native {
		v.readNative()
	} else {
		v.readLedger()
	}
	v.terms = terms{
		owner:       OwnerFor(o.Job),
		indexed:     completionMode(o.Job) == batchv1.IndexedCompletion,
		completions: math.MaxInt,
		onlyFailed:  replacement(spec) == batchv1.Failed || o.Judge != nil && !o.native,
		judges:      o.Judge != nil,
		attempts:    o.ReadsAttempts,
		volatile:    o.Volatile || v.ledger.Volatile,
		stage:       stageOf(o.Job),
	}
	if v.indexed && spec.BackoffLimitPerIndex != nil {
		v.perIndex, v.limitPerIndex = true, int64(*spec.BackoffLimitPerIndex)
	}
	if spec.Completions != nil {
		v.completions = int(*spec.Completions)
	}
	v.readStored()
}

// readStored reads the records of slots and pods in the status and the ledger. Most of them are unchanged.
func (v *view) readStored() {
	completed, failed := v.ledger.Succeeded, ""
	if v.indexed {
		completed = v.Job.Status.CompletedIndexes
	}
	if v.perIndex {
		failed = ptr.Deref(v.Job.Status.FailedIndexes, "")
	}
	if s := &v.stored; completed != s.completedText || failed != s.failedText || v.completions != s.limit {
		*s = stored{
			completedText: completed, failedText: failed, limit: v.completions,
			completed: parseIndexes(completed, v.completions), failed: parseIndexes(failed, v.completions),
		}
	}
	v.stored.releasing = make(map[types.UID]bool, len(v.ledger.Releasing))
	for _, uid := range slices.Concat(v.ledger.Releasing, v.countedSuccesses()) {
		v.stored.releasing[uid] = true
	}
}

// replacement returns the podReplacementPolicy or its default. Up to Kubernetes 1.36 an API server may have the field
// disabled and omit it; the Job controller of those versions then uses podFailurePolicy. The Job controller of 1.37 reads
// only this field.
func replacement(spec *batchv1.JobSpec) batchv1.PodReplacementPolicy {
	if spec.PodReplacementPolicy == nil && spec.PodFailurePolicy != nil {
		return batchv1.Failed
	}
	return ptr.Deref(spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
}

func completionMode(job *batchv1.Job) batchv1.CompletionMode {
	return ptr.Deref(job.Spec.CompletionMode, batchv1.NonIndexedCompletion)
}

func (v *view) unknownMode() bool {
	return !v.indexed && completionMode(v.Job) != batchv1.NonIndexedCompletion
}

// readPods reads the pods that the Job controls.
func (v *view) readPods(pods []*corev1.Pod) []*pod {
	read := make([]*pod, 0, len(pods))
	for _, p := range pods {
		if v.owned || Controls(v.Job, p) {
			read = append(read, v.readPod(p))
		}
	}
	return read
}

// allProblems returns the problems of the Job and of its pods.
func (v *view) allProblems() []error {
	problems := slices.Clip(v.problems)
	for _, p := range slices.SortedFunc(maps.Keys(v.faulty), comparePlace) {
		problems = append(problems, p.problems...)
	}
	if v.tooMany {
		problems = append(problems, errTooManyBudgets())
	}
	return problems
}

// compareFinish orders pods by finish time, then by slot, attempt, name and UID.
func compareFinish(a, b *pod) int {
	return cmp.Or(a.finish.Compare(b.finish), a.slot-b.slot, a.attempt-b.attempt, cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}

func (v *view) readPod(p *corev1.Pod) *pod {
	read := &pod{
		Pod: p, slot: none, attempt: none, releasing: v.stored.releasing[p.UID],
		held: slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer),
	}
	if slot, attempt, ok := v.namer.place(v.Job, p); ok && !v.native {
		read.slot, read.attempt = slot, attempt // names cannot be edited, annotations can
	} else if v.indexed {
		read.slot = annotatedIndex(p)
	}
	read.failed = v.takenAsFailed(p)
	if read.failed || p.Status.Phase == corev1.PodSucceeded {
		read.finish = FinishTime(p).Truncate(time.Second) // as the API stores it
	}
	if v.indexed {
		read.readMatches()
	}
	if v.attempts && !v.native {
		read.readHistory()
	}
	return read
}

func annotatedIndex(p *corev1.Pod) int {
	index, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil || index < 0 || index > maxNumber {
		return none
	}
	return index
}

// takenAsFailed reports whether a pod counts as failed. A terminating pod counts as failed unless only failed pods are
// replaced (isPodFailed upstream), and always once the Job fails, because the pod cannot survive that.
func (v *view) takenAsFailed(p *corev1.Pod) bool {
	switch {
	case p.Status.Phase == corev1.PodFailed:
		return true
	case p.Status.Phase == corev1.PodSucceeded || p.DeletionTimestamp == nil:
		return false
	}
	return !v.onlyFailed || v.stage == jobFailing
}

// judge returns the verdict on a failed pod. A pod that is being taken down is evaluated in its present state, as if it
// were in phase Failed.
func (v *view) judge(p *pod) runtime.Verdict {
	if v.Judge == nil {
		return runtime.Unmatched(p.Pod)
	}
	failed := p.Pod
	if failed.Status.Phase != corev1.PodFailed {
		terminal := *failed
		terminal.Status.Phase = corev1.PodFailed
		failed = &terminal
	}
	return v.Judge(failed, p.number(), func() []cel.Attempt { return v.earlier(p) })
}

// number returns the attempt number, from 1. It is 1 for a pod that Next did not name.
func (p *pod) number() int64 { return int64(max(p.attempt, 0)) + 1 }

// hasSlot reports whether the Job has a slot.
func (v *view) hasSlot(number int) bool { return number != none && number < v.completions }

// valid reports whether a pod has a slot of the Job. Only valid pods count.
func (v *view) valid(p *pod) bool { return v.hasSlot(p.slot) }

// past reports whether an earlier Plan stored its decision on a failed pod, maybe by other rules. The pod is not
// evaluated again.
func (v *view) past(p *pod) bool {
	return v.volatile && (!p.held || p.releasing)
}

func (p *pod) terminal() bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func (p *pod) active() bool { return !p.terminal() && p.DeletionTimestamp == nil }

func (p *pod) terminating() bool { return !p.terminal() && p.DeletionTimestamp != nil }

func (p *pod) ready() bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// succeeded reports whether a pod counts as a success. A pod counted as a failure stays one, even if it then succeeds.
func (p *pod) succeeded() bool {
	return p.held && !p.releasing && p.Status.Phase == corev1.PodSucceeded
}
