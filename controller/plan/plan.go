package plan

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/runtime"
)

// Observation is all that a Plan is made from. Nothing in it is changed.
type Observation struct {
	// Job is as it was read, with the API's defaults. Its resource version makes a Write that was planned for an older one
	// fail.
	Job *batchv1.Job
	// Template is the Job's, if Job does not have it whole: Next then reads only its restartPolicy there.
	Template *corev1.PodTemplateSpec
	// Pods are those of the Job in a cache, which may lag behind, but never goes back: not while the program runs, because
	// informers do not, and not over a restart, if the first list asks for the newest state (resource version ""). Pods that
	// the program has created, and that the cache does not show yet, are added as they were created. Pods that the Job does
	// not control are ignored.
	Pods []*corev1.Pod
	// Judge gives the verdict on a pod in phase Failed, which is the attempt of that number at its slot, from 1. Budgets are
	// not its business: Next counts the matches. It is nil when the Job has no rules, neither its own nor those of policies.
	Judge func(p *corev1.Pod, attempt int64) runtime.Verdict
	// Volatile is true when the rules may be others the next time, as those of custom policies may. What is decided of a
	// failed pod is then stored at once, and the pod let go: it is not judged again, not even after a restart.
	Volatile bool
	// Now is the time.
	Now time.Time
	// Current is true when no creation is under way, or has an unknown outcome. Only what ends the Job needs it.
	Current bool
	// Taken are names for which the API server answered AlreadyExists, because of a pod that is not of this Job.
	Taken map[string]bool
	// Settings are the parameters of the controller.
	Settings Settings

	// native is true for a Job that Kubernetes' own controller runs, owned when all Pods are known to be the Job's, and unnamed
	// when their names tell no slots: see Look.
	native, owned, unnamed bool
}

// Plan says what to do next. Each part is safe without the others, in whatever state the rest of the Plan ends: the order
// of the fields is the best one, not the only safe one. Every call but Write is idempotent, and Write is protected by the
// Job's resource version.
type Plan struct {
	// Release are pods that lose the tracking finalizer: all that they tell is recorded. The condition is that the resource
	// version is still this one. When it fails, the pod has changed, perhaps finished, and is left to the next Plan.
	Release []*corev1.Pod
	// Free are ended pods on which nothing depends any more. They lose the finalizer as those in Release do, under the same
	// condition, but when there is nothing better to call for: no Plan waits for it.
	Free []*corev1.Pod
	// Dismiss are active pods that are not wanted any more and are not counted: each is released unless it has ended, and deleted
	// when that has succeeded.
	Dismiss []*corev1.Pod
	// Delete are pods to be deleted by their UIDs. They keep the finalizer, because they are counted.
	Delete []*corev1.Pod
	// Create are pods to be created. They share parts of the Job's template, which is not to be changed. AlreadyExists means done if that pod is the Job's, else its name is Taken.
	Create []*corev1.Pod
	// Failed and Terminating are how many pods count as failed and are terminating, which Write may not say yet.
	Failed, Terminating int
	// Write is the Job with the status as it is to be written, or nil when nothing in it changes. Its annotations are part of the
	// write.
	Write *batchv1.Job
	// Urgent is true when the next Plan waits for Write. The counters alone can be written together with later ones.
	Urgent bool
	// Events are told after Write has succeeded.
	Events []Event
	// LookAgain is when time alone will change the Plan; 0 means never.
	LookAgain time.Duration
	// NeedsCurrent is true when the Job would end if the Observation were Current.
	NeedsCurrent bool
	// UsedUp are the verdicts on the pods whose rule's budget is used up, by UID. All other pods have the verdict of Judge.
	// That they are undecided means that it depends on Write, or on a later one, which of the two they have.
	UsedUp    map[types.UID]runtime.Verdict
	Undecided map[types.UID]bool
	// Problems are mistakes in the annotations of the Job and its pods. The Plan does without them.
	Problems []error
}

// Event is to be recorded for the Job.
type Event struct {
	Type    string // Normal or Warning
	Reason  string
	Message string
}

// Next returns what to do next for a Job.
func Next(o Observation) Plan {
	v := observe(o)
	switch {
	case v.unknownMode():
		return Plan{Events: []Event{unknownModeEvent()}}
	case v.stage == jobFinished:
		return v.retire()
	}
	n := v.begin()
	if n.proceed(); n.goal != nil {
		n.plan.LookAgain = 0 // time does not change it any more
		n.finish()
	}
	n.plan.Failed, n.plan.Terminating = n.failedPods, n.terminating
	n.hold()
	n.write()
	n.tellDecisions()
	return n.plan
}

// begin returns a Plan with nothing in it.
func (v *view) begin() *next {
	n := &next{view: v, tally: v.tally(), ledger: v.ledger}
	n.plan.Problems = v.problems
	n.status = *v.Job.Status.DeepCopy()
	return n
}

// proceed counts, and finds out where the Job is heading: the goal, or the pods to create and to dismiss.
func (n *next) proceed() {
	n.start()
	n.settle()
	n.manage()
}

// next is a Plan in the making.
type next struct {
	*view
	tally

	plan   Plan
	status batchv1.JobStatus
	ledger ledger
	// leaving are the active pods that the Plan takes away.
	leaving map[types.UID]bool
	// ledgered is true when the ledger must be written before pods can go, healed when it must because pods have vanished.
	ledgered, healed bool
	// goal is the condition that the Job is heading for, or nil. Without one, deadline is when the Job fails for having been
	// active too long, if there is such a time.
	goal     *goal
	deadline time.Time
	// waiting are the pods to be created when wait has passed.
	waiting int
	wait    time.Duration
	// podSpec is that of the pods to be created, or nil before there is one.
	podSpec *corev1.PodSpec
	// templateSize is about how many bytes the template takes, or 0 before it was asked for.
	templateSize int
}

// again makes the Plan look again after a while.
func (n *next) again(after time.Duration) {
	if after > 0 && (n.plan.LookAgain == 0 || after < n.plan.LookAgain) {
		n.plan.LookAgain = after
	}
}
