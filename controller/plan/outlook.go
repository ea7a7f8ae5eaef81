package plan

import (
	"math"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
	"github.com/podverdict/podverdict/runtime"
)

// Outlook describes how close a Job is to its limits, and its next step if nothing else happens to its pods.
type Outlook struct {
	// Failures is the number of counted failures; the limit is backoffLimit.
	Failures Usage `json:"failures"`
	// Restarts is the number of container restarts in pods that have not ended, init containers included. It is nil
	// unless restartPolicy is OnFailure. The Job fails when Used reaches the limit (pastBackoffLimitOnFailure in
	// upstream's job_controller.go).
	Restarts *Usage `json:"restarts,omitempty"`
	// FailedIndexes is the number of indexes that will not be retried; the limit is maxFailedIndexes. It is nil without
	// backoffLimitPerIndex.
	FailedIndexes *Usage `json:"failedIndexes,omitempty"`
	// Budgets has the budgets of the rules that decided on an existing pod.
	Budgets []BudgetUsage `json:"budgets,omitempty"`
	// Deadline is the time when activeDeadlineSeconds will be over. It is nil while the Job is not active.
	Deadline *metav1.Time `json:"deadline,omitempty"`
	// Active and Terminating are numbers of pods.
	Active      int `json:"active,omitempty"`
	Terminating int `json:"terminating,omitempty"`
	// Next is the Job's next step, or nil if only the Job's manager knows it.
	Next *Step `json:"next,omitempty"`
	// Unknown lists the facts that could not be determined, with reasons.
	Unknown []string `json:"unknown,omitempty"`
}

// Reasons why an Outlook may be incomplete. More than Failures may be used then, or Next may come later.
const (
	UnknownFailures = "failures before these Pods, because the Job has no status"
	UnknownTimes    = "how long the back-off lasts, because failed Pods have no times"
	UnknownPods     = "how long the back-off lasts, because failed Pods are gone"
	// UnknownActive means that Next is only set if the Job is certain to end.
	UnknownActive = "what happens next, because active Pods were not read"
)

// Usage compares a count with its limit. The Job fails once Used exceeds Limit. A nil Limit means unlimited.
type Usage struct {
	Used  int  `json:"used"`
	Limit *int `json:"limit,omitempty"`
}

// BudgetUsage is the used part of a rule's budget. For a budget per index it describes the index that has used the most.
type BudgetUsage struct {
	Policy string `json:"policy"`
	Rule   string `json:"rule"`
	Per    string `json:"per"`
	Usage
}

// StepKind is the kind of a Job's next step.
type StepKind string

// The kinds of steps.
const (
	// Creates means that pods are created: immediately, or after the back-off.
	Creates StepKind = "Creates"
	// Waits means that the Job waits for pods that run or terminate.
	Waits StepKind = "Waits"
	// Fails and Completes mean that active pods are deleted, and then the Job ends.
	Fails     StepKind = "Fails"
	Completes StepKind = "Completes"
	// Suspended means that the Job waits until a user resumes it.
	Suspended StepKind = "Suspended"
	// Deleted means that the Job is being deleted, so no more pods are created.
	Deleted StepKind = "Deleted"
	// Failed and Complete mean that the Job has ended.
	Failed   StepKind = "Failed"
	Complete StepKind = "Complete"
)

// Step is a Job's next step.
type Step struct {
	Does StepKind `json:"does"`
	// At is the time of the step; nil means immediately.
	At *metav1.Time `json:"at,omitempty"`
	// Pods is the number of pods to create.
	Pods int `json:"pods,omitempty"`
	// Reason and Message are copied from the condition that ends the Job.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Look returns the outlook of a Job. It predicts what Next would plan for a managed Job, and what kube-controller-manager
// would do with its own Jobs. All pods must belong to the Job. Job and pods may come from files: without status, UIDs or
// finalizers, the pods are treated as not counted yet.
func Look(o Observation) Outlook {
	o.native, o.owned, o.Current = !Managed(o.Job), true, true
	o.Volatile = o.Volatile && !o.native // a podFailurePolicy cannot change
	var unknown []string
	if manager := ptr.Deref(o.Job.Spec.ManagedBy, ""); o.native && manager != "" && manager != batchv1.JobControllerName {
		return Outlook{Failures: Usage{Used: int(o.Job.Status.Failed)}, Unknown: []string{"what " + manager + " does next"}}
	}
	noStatus := emptyStatus(&o.Job.Status)
	if noStatus && len(o.Pods) > 0 {
		unknown = append(unknown, UnknownFailures)
	}
	o.Pods, o.unnamed = tracked(o.Pods, noStatus), o.native || noStatus
	v := observe(o)
	if v.unknownMode() {
		return Outlook{Unknown: []string{"what happens next, because of completionMode " + string(completionMode(o.Job))}}
	}
	n := v.begin()
	if v.stage != jobFinished {
		n.proceed()
	}
	outlook := n.outlook()
	if slices.Contains([]StepKind{Creates, Waits, Completes}, outlook.Next.Does) && n.lacksActive() {
		outlook.Next, unknown = nil, append(unknown, UnknownActive)
	} else {
		unknown = append(unknown, n.unknownWait(outlook)...)
	}
	outlook.Unknown = unknown
	return outlook
}

// UsedUp returns the verdicts on the pods that matched after their rule's budget was used up, by pod name. For a Job's
// budget it counts the matches of the given pods in the order in which they finished, because decisions on released pods
// are not stored. Pods made by the controller carry the matches of their index.
func UsedUp(o Observation) map[string]runtime.Verdict {
	used := map[string]runtime.Verdict{}
	for _, p := range observe(uncounted(o)).all() {
		if p.failed && p.verdict.IsUsedUp() {
			used[p.Name] = *p.verdict
		}
	}
	return used
}

// uncounted returns the observation of a Job's pods before any of them was counted.
func uncounted(o Observation) Observation {
	job := *o.Job
	job.Status = batchv1.JobStatus{}
	o.Job, o.Pods = &job, tracked(o.Pods, true)
	o.owned, o.unnamed, o.Volatile, o.Settings.MaxReleasing = true, true, false, len(o.Pods)+1
	return o
}

// lacksActive reports whether the status counts more active pods than were given.
func (n *next) lacksActive() bool {
	there := 0
	for _, p := range n.all() {
		if p.held || !p.terminal() {
			there++
		}
	}
	return there < int(n.Job.Status.Active)
}

// tracked returns the pods with missing UIDs filled in, and with finalizers if all are to be counted.
func tracked(pods []*corev1.Pod, all bool) []*corev1.Pod {
	with := make([]*corev1.Pod, len(pods))
	for i, p := range pods {
		with[i] = p
		held := slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer)
		if p.UID != "" && (held || !all) {
			continue
		}
		changed := *p
		if changed.UID == "" {
			changed.UID = types.UID("pod/" + p.Name) // names are unique among the pods of one Job
		}
		if all && !held {
			changed.Finalizers = append(slices.Clip(p.Finalizers), batchv1.JobTrackingFinalizer)
		}
		with[i] = &changed
	}
	return with
}

// outlook derives the outlook from a Plan in progress.
func (n *next) outlook() Outlook {
	o := Outlook{
		Failures: Usage{Used: n.failedPods}, Budgets: n.budgetUsage(), Active: n.active, Terminating: n.terminating,
	}
	if n.stage == jobFinished { // the ledger is gone, and the pods are released
		o.Failures.Used = max(o.Failures.Used, int(n.Job.Status.Failed))
	}
	if limit := ptr.Deref(n.Job.Spec.BackoffLimit, jobdefaults.BackoffLimit); limit < math.MaxInt32 { // default with backoffLimitPerIndex
		o.Failures.Limit = new(int(limit))
	}
	if n.onFailure() && n.stage != jobFinished {
		o.Restarts = &Usage{Used: n.totals.restarts}
		if o.Failures.Limit != nil {
			o.Restarts.Limit = new(max(*o.Failures.Limit, 1))
		}
	}
	if n.perIndex {
		o.FailedIndexes = &Usage{Used: n.failedIndexes.size()}
		if limit := n.Job.Spec.MaxFailedIndexes; limit != nil {
			o.FailedIndexes.Limit = new(int(*limit))
		}
	}
	if n.stage != jobFinished && n.goal == nil && !n.deleting && !n.deadline.IsZero() {
		o.Deadline = new(metav1.NewTime(n.deadline))
	}
	o.Next = new(n.step())
	return o
}

func (n *next) step() Step {
	switch {
	case n.stage == jobFinished:
		return ended(n.Job)
	case n.goal != nil && n.goal.terminal == batchv1.JobFailed:
		return Step{Does: Fails, Reason: n.goal.reason, Message: n.goal.message}
	case n.goal != nil:
		return Step{Does: Completes, Reason: n.goal.reason, Message: n.goal.message}
	case n.deleting:
		return Step{Does: Deleted}
	case n.suspended():
		return Step{Does: Suspended}
	case len(n.plan.Create) > 0:
		return Step{Does: Creates, Pods: len(n.plan.Create)}
	case n.waiting == 0:
		return Step{Does: Waits}
	}
	at := n.Now.Add(n.wait)
	if !n.deadline.IsZero() && !n.deadline.After(at) {
		late := deadlineExceeded()
		return Step{Does: Fails, At: new(metav1.NewTime(n.deadline)), Reason: late.reason, Message: late.message}
	}
	return Step{Does: Creates, At: new(metav1.NewTime(at)), Pods: n.waiting}
}

// ended returns the last step of a Job that has ended.
func ended(job *batchv1.Job) Step {
	if c := condition(job.Status.Conditions, batchv1.JobFailed); c != nil && c.Status == corev1.ConditionTrue {
		return Step{Does: Failed, Reason: c.Reason, Message: c.Message}
	}
	c := condition(job.Status.Conditions, batchv1.JobComplete)
	return Step{Does: Complete, Reason: c.Reason, Message: c.Message}
}

// postpone records that some pods can only be created after a wait.
func (n *next) postpone(pods int, wait time.Duration) {
	n.again(wait)
	switch {
	case n.waiting == 0 || wait < n.wait:
		n.wait, n.waiting = wait, pods
	case wait == n.wait:
		n.waiting += pods
	}
}

// budgetUsage returns the budgets of the rules that have matched, in the order of the pods.
func (n *next) budgetUsage() []BudgetUsage {
	var used []BudgetUsage
	place := map[string]int{}
	for _, p := range n.all() {
		if p.rule == "" {
			continue
		}
		i, known := place[p.rule]
		if !known {
			i = len(used)
			place[p.rule] = i
			budget := p.verdict.Budget
			used = append(used, BudgetUsage{
				Policy: p.verdict.Policy, Rule: p.verdict.RuleName, Per: string(budget.Per), Usage: Usage{Limit: new(int(budget.Limit))},
			})
		}
		matches := n.budgets[p.rule].Matches
		if m := p.passed()[p.rule]; m > matches {
			matches = m
		}
		used[i].Used = max(used[i].Used, int(matches))
	}
	return used
}

// unknownWait returns the reasons why the time of the next creation is unknown.
func (n *next) unknownWait(o Outlook) []string {
	if o.Next.Does != Creates || o.Failures.Used == 0 {
		return nil
	}
	var untimed, counted int
	for _, p := range n.all() {
		if p.failed && p.finish.Unix() <= 0 {
			untimed++
		}
		if p.failed && !p.held && p.verdict.Counted {
			counted++
		}
	}
	switch {
	case untimed > 0:
		return []string{UnknownTimes}
	case n.native && !n.perIndex && int(n.Job.Status.Failed) > counted:
		return []string{UnknownPods}
	}
	return nil
}
