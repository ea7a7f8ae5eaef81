package verdicts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	controllerplan "github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/input/cluster"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/kube/podstate"
)

// JobItem is eval's output for a Job as a whole.
type JobItem struct {
	Job manifest.Reference `json:"job,omitzero"`
	// Outlook is absent when some of the Job's Pods were not read, and with --policy, which tries other policies.
	Outlook *controllerplan.Outlook `json:"outlook,omitempty"`

	// JobSet is the reaction of the Job's JobSet, if the Job fails or has failed.
	JobSet *jobSetItem `json:"jobSet,omitempty"`

	cronJob   *batchv1.CronJob       // set for a CronJob instead of a Job
	heldUp    map[podstate.Cause]int // number of held-up Pods by cause
	replaces  batchv1.PodReplacementPolicy
	restarts  corev1.RestartPolicy   // of Pods
	failed    *batchv1.JobCondition  // why the Job has failed, or nil
	pods      int                    // in the input
	single    bool                   // the only Job of the input
	queue     string                 // of Kueue
	owner     *metav1.OwnerReference // that is the Job's controller
	continued bool                   // other Pods of the Job came before
	fails     bool                   // with what that means for a JobSet
	namespace string                 // where Job is empty
	now       time.Time
}

// heading returns the Job's heading above its Pods.
func (j JobItem) heading() string {
	switch j.Job.Name {
	case "":
		return "Pods of no Job, namespace " + j.namespace
	case standInName:
		return "Any Job"
	}
	if j.cronJob != nil {
		return "CronJob " + j.Job.String()
	}
	return "Job " + j.Job.String()
}

// hasOutlook reports whether all Pods of the Jobs were read and are judged by the policies in effect.
func (in *Input) hasOutlook(q cluster.Query) bool {
	one := func(t cluster.Target) bool { return t.Kind == cluster.Pod }
	return in.before == nil && !in.Scenarios && !in.bare && !slices.ContainsFunc(q.Targets, one)
}

// urgent reports whether to print the Job even if none of its Pods are listed.
func (j JobItem) urgent() bool {
	if j.cronJob != nil {
		return cronJobText(j.cronJob) != ""
	}
	if j.Outlook == nil || j.Outlook.Next == nil {
		return false
	}
	switch j.Outlook.Next.Does {
	case controllerplan.Fails, controllerplan.Failed:
		return true
	case controllerplan.Complete, controllerplan.Completes:
		return false
	default:
		return j.Outlook.Failures.Used > 0 || j.single && j.pods == 0
	}
}

// String returns a line such as "2 of 6 failures used, deadline in 58m; next Pod in 40s, 1 runs".
func (j JobItem) String() string {
	if j.cronJob != nil {
		return cronJobText(j.cronJob)
	}
	if j.Outlook == nil {
		return ""
	}
	restarts, failed := j.Outlook.Restarts, j.Outlook.Failures.Used > 0
	var parts []string
	if restarts == nil || failed {
		parts = append(parts, j.failures())
	}
	if restarts != nil && (!failed || restarts.Used > 0) {
		parts = append(parts, usage(*restarts, "restart", "restarts", "backoffLimit"))
	}
	if u := j.Outlook.FailedIndexes; u != nil && (u.Used > 0 || u.Limit != nil) {
		parts = append(parts, usage(*u, "failed index", "failed indexes", "maxFailedIndexes"))
	}
	for _, b := range j.Outlook.Budgets {
		parts = append(parts, fmt.Sprintf("%d of %d used of %s/%s", b.Used, *b.Limit, b.Policy, b.Rule))
	}
	if at := j.Outlook.Deadline; at != nil {
		parts = append(parts, "deadline "+j.when(at))
	}
	text := strings.Join(parts, ", ")
	if next := j.next(); next != "" {
		text += "; " + next
	}
	return text
}

func (j JobItem) failures() string {
	text := usage(j.Outlook.Failures, "failure", "failures", "backoffLimit")
	if slices.Contains(j.Outlook.Unknown, controllerplan.UnknownFailures) {
		return "at least " + text
	}
	return text
}

func usage(u controllerplan.Usage, one, many, limit string) string {
	count := fmt.Sprintf("%d %s", u.Used, many)
	if u.Used == 1 {
		count = "1 " + one
	}
	switch {
	case u.Limit == nil:
		return count
	case u.Used > *u.Limit:
		return fmt.Sprintf("%s, %s %d", count, limit, *u.Limit)
	}
	return fmt.Sprintf("%d of %d %s used", u.Used, *u.Limit, many)
}

// next describes the Job's next step and its time.
func (j JobItem) next() string {
	step := j.Outlook.Next
	if step == nil {
		return ""
	}
	switch step.Does {
	case controllerplan.Creates:
		return j.creation(*step)
	case controllerplan.Waits:
		return j.present()
	case controllerplan.Fails:
		return fmt.Sprintf("fails %s: %s", j.when(step.At), step.Reason)
	case controllerplan.Completes:
		return "completes now: " + step.Reason
	case controllerplan.Failed:
		return "has failed: " + step.Reason
	case controllerplan.Complete:
		return "complete"
	case controllerplan.Suspended:
		return j.suspension()
	case controllerplan.Deleted:
		return "being deleted"
	}
	return string(step.Does)
}

func (j JobItem) creation(step controllerplan.Step) string {
	text := "next Pod " + j.when(step.At)
	if step.Pods != 1 {
		text = fmt.Sprintf("next %d Pods %s", step.Pods, j.when(step.At))
	}
	if late := []string{controllerplan.UnknownTimes, controllerplan.UnknownPods}; slices.ContainsFunc(j.Outlook.Unknown, func(u string) bool { return slices.Contains(late, u) }) {
		text += " or later"
	}
	if j.Outlook.Active > 0 {
		text += ", " + j.active()
	}
	return text
}

// present describes the Pods that the Job waits for.
func (j JobItem) present() string {
	var parts []string
	if j.Outlook.Active > 0 {
		parts = append(parts, j.active())
	}
	if n := j.Outlook.Terminating; n == 1 {
		parts = append(parts, "1 Pod terminates")
	} else if n > 1 {
		parts = append(parts, fmt.Sprintf("%d Pods terminate", n))
	}
	if len(parts) == 0 {
		return "no Pod is to run"
	}
	text := strings.Join(parts, ", ")
	if j.heldUp[podstate.Deleted] > 0 && j.replaces == batchv1.Failed {
		text += "; replaced only when in phase Failed or gone (podReplacementPolicy: Failed)"
	}
	return text
}

// gone explains, from its status, a failed Job that has no Pods left.
func (j JobItem) gone() string {
	if j.pods > 0 || j.failed == nil {
		return ""
	}
	text := fmt.Sprintf("Failed at %s: %s. ", j.failed.LastTransitionTime.UTC().Format(time.RFC3339), strings.TrimSuffix(j.failed.Message, "."))
	if j.restarts == corev1.RestartPolicyOnFailure {
		return text + "Its Pod is gone: the Job controller deletes Pods that have not ended when a Job fails, and their logs with them. " +
			"With restartPolicy OnFailure, that is the Pod whose containers failed; with Never it stays."
	}
	return text + "Its Pods are not in the input, or have been deleted."
}

// suspension names what can resume the Job, if its labels or its owner show it.
func (j JobItem) suspension() string {
	switch {
	case j.queue != "":
		return "suspended until Kueue admits it (queue " + j.queue + ")"
	case j.owner != nil && j.owner.Kind == "JobSet":
		return "suspended by JobSet " + j.owner.Name
	}
	return "suspended"
}

// active returns the number of active Pods, and how many of them hold up the Job: "3 Pods are active (2 cannot start)".
func (j JobItem) active() string {
	text := fmt.Sprintf("%d Pods are active", j.Outlook.Active)
	if j.Outlook.Active == 1 {
		text = "1 Pod is active"
	}
	var held []string
	for _, cause := range slices.Sorted(maps.Keys(j.heldUp)) {
		switch n := j.heldUp[cause]; {
		case cause == podstate.Deleted:
		case n == j.Outlook.Active:
			held = append(held, cause.Brief())
		default:
			held = append(held, fmt.Sprintf("%d %s", n, cause.Brief()))
		}
	}
	if len(held) > 0 {
		text += " (" + strings.Join(held, ", ") + ")"
	}
	return text
}

// when returns the time until at, such as "in 5m"; nil means now.
func (j JobItem) when(at *metav1.Time) string {
	if at == nil || !at.After(j.now) {
		return "now"
	}
	return "in " + duration.HumanDuration(at.Sub(j.now))
}
