package plan

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/runtime"
)

// Observation is the input for a Plan. Next does not modify it.
type Observation struct {
	// Job is the Job as it was read, with the API's defaults. If it has changed since, its resource version makes Write
	// fail.
	Job *batchv1.Job
	// Template is the Job's template if Job lacks it. Next then reads only restartPolicy from Job's template.
	Template *corev1.PodTemplateSpec
	// Pods lists the Job's pods from a cache, which may lag but must never go back in time. Informers never do while the
	// program runs. Across a restart they do not if the first list asks for the newest state (resource version ""). Add
	// pods that the program has created and that the cache does not show yet. Pods that the Job does not control are
	// ignored.
	Pods []*corev1.Pod
	// Judge returns the verdict on a failed pod, given its attempt number at its slot, from 1, and a function that
	// returns the attempts before it, or none unless ReadsAttempts is set. It ignores budgets: Next counts the matches.
	// It is nil if no rules apply to the Job.
	Judge func(p *corev1.Pod, attempt int64, earlier func() []cel.Attempt) runtime.Verdict
	// ReadsAttempts is true if rules in force read attempts. Pods then carry the attempts before them.
	ReadsAttempts bool
	// Volatile is true if the rules may change, as rules of custom policies may. The decision on a failed pod is then
	// stored immediately and the pod is released; it is not evaluated again, not even after a restart.
	Volatile bool
	// Now is the current time.
	Now time.Time
	// Current is true if no creation is in progress or has an unknown outcome. Some ends of a Job require it.
	Current bool
	// Taken has the names for which the API server answered AlreadyExists because of another owner's pod.
	Taken map[string]bool
	// Settings are the controller's parameters.
	Settings Settings

	// native is true if kube-controller-manager runs the Job, owned if all Pods are known to belong to the Job, and
	// unnamed if their names encode no slots. Look sets them.
	native, owned, unnamed bool
}

// Plan describes what to do next. Each part is safe without the others, whatever happens to the rest of the Plan: the
// order of the fields is the best one, not the only safe one. Every call but Write is idempotent, and Write is protected
// by the Job's resource version.
type Plan struct {
	// Release lists pods that lose the tracking finalizer, because everything about them is recorded. Each call must
	// require the pod's resource version. If the pod has changed, perhaps finished, the next Plan handles it.
	Release []*corev1.Pod
	// Free lists ended pods that nothing depends on. They are released like those in Release, but only when no other
	// calls are needed: no Plan waits for it.
	Free []*corev1.Pod
	// Dismiss lists active pods that are no longer wanted and not counted. Each is released unless it has ended, and then
	// deleted.
	Dismiss []*corev1.Pod
	// Delete lists pods to delete by UID. They keep the finalizer, because they are counted.
	Delete []*corev1.Pod
	// Create lists pods to create. They share parts of the Job's template, which must not be changed. AlreadyExists means
	// success if the pod belongs to the Job; otherwise its name is Taken.
	Create []*corev1.Pod
	// Mended has the changes that retries make to pods in Create, by pod name.
	Mended map[string][]Mended
	// Failed and Terminating are the numbers of failed and terminating pods; Write may not have them yet.
	Failed, Terminating int
	// Write is the Job with its new status and annotations, or nil if the status does not change.
	Write *batchv1.Job
	// Urgent is true if the next Plan depends on Write. Otherwise Write can be combined with later ones.
	Urgent bool
	// Events are recorded after Write has succeeded.
	Events []Event
	// LookAgain is the time after which the Plan changes even without new events; 0 means never.
	LookAgain time.Duration
	// NeedsCurrent is true if the Job would end if the Observation were Current.
	NeedsCurrent bool
	// UsedUp has the verdicts on pods whose rule's budget is used up, by UID. All other pods have the verdict of Judge.
	// For undecided pods, this or a later Write decides which of the two applies.
	UsedUp    map[types.UID]runtime.Verdict
	Undecided map[types.UID]bool
	// Problems lists invalid annotations of the Job and its pods, which the Plan ignores.
	Problems []error
}

// Event is an event to record for the Job.
type Event struct {
	Type    string // Normal or Warning
	Reason  string
	Message string
}

// Next returns the Plan for a Job.
func Next(o Observation) Plan { return observe(o).next() }

func (v *view) next() Plan {
	switch {
	case v.unknownMode():
		return Plan{Events: []Event{unknownModeEvent()}}
	case v.stage == jobFinished:
		return v.retire()
	}
	n := v.begin()
	if n.proceed(); n.goal != nil {
		n.plan.LookAgain = 0 // waiting no longer changes it
		n.finish()
	}
	n.plan.Failed, n.plan.Terminating = n.failedPods, n.terminating
	n.hold()
	n.write()
	n.tellDecisions()
	n.plan.Problems = n.allProblems()
	return n.plan
}

// begin returns an empty Plan in progress.
func (v *view) begin() *next {
	n := &next{
		view: v, ledger: v.ledger, active: v.totals.active, ready: v.totals.ready, terminating: v.totals.terminating,
		failedPods: v.ledger.recorded() + v.totals.failures, succeeded: v.completed.size(),
	}
	n.shownFailed = n.failedPods - v.totals.donors
	if !v.indexed {
		n.succeeded = max(n.succeeded, int(v.Job.Status.Succeeded))
	}
	n.status = *v.Job.Status.DeepCopy()
	return n
}

// proceed counts the pods and decides the Job's direction: its goal, or which pods to create and dismiss.
func (n *next) proceed() {
	n.start()
	n.settle()
	n.manage()
}

// next is a Plan in progress.
type next struct {
	*view

	// active, ready and terminating are numbers of pods.
	active, ready, terminating int
	// failedPods is the number of counted failures. shownFailed excludes the donors: as upstream, status.failed counts a
	// pod of an index only once it is replaced.
	failedPods, shownFailed int
	// succeeded is the number of completed slots, or the status's count if that is higher.
	succeeded int

	plan   Plan
	status batchv1.JobStatus
	ledger ledger
	// attempted has the last attempts of a Job without indexes, or nil if not computed yet.
	attempted history
	// leaving has the active pods that the Plan removes.
	leaving map[types.UID]*pod
	// ledgered is true if pods can only be released after the ledger is written; healed is true if the ledger must be
	// written because pods have vanished.
	ledgered, healed bool
	// goal is the outcome that the Job is heading for, or nil. Without a goal, deadline is the time when
	// activeDeadlineSeconds will be over, if it is set.
	goal     *goal
	deadline time.Time
	// over is true if indexes are not retried any more.
	over bool
	// waiting is the number of pods to create after wait.
	waiting int
	wait    time.Duration
	// podSpec is the spec of the pods to create, or nil if it is not built yet.
	podSpec *corev1.PodSpec
	// templateSize is the approximate size of the template in bytes, or 0 if not computed yet.
	templateSize int
}

// again requests another Plan after a duration.
func (n *next) again(after time.Duration) {
	if after > 0 && (n.plan.LookAgain == 0 || after < n.plan.LookAgain) {
		n.plan.LookAgain = after
	}
}
