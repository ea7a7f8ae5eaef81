package verdicts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	controllerplan "github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/input/cluster"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// JobItem is what eval says of a Job as a whole.
type JobItem struct {
	Job manifest.Reference `json:"job,omitzero"`
	// Outlook is absent when not all Pods of the Job were read, and when another policy than the Job's is tried.
	Outlook *controllerplan.Outlook `json:"outlook,omitempty"`

	// JobSet is what the Job's JobSet does, if the Job fails or has failed.
	JobSet *jobSetItem `json:"jobSet,omitempty"`

	continued bool   // other Pods of the Job came before
	fails     bool   // with what that means for a JobSet
	namespace string // where Job is empty
	now       time.Time
}

// heading names the Job above its Pods.
func (j JobItem) heading() string {
	switch j.Job.Name {
	case "":
		return "Pods of no Job, namespace " + j.namespace
	case standInName:
		return "Any Job"
	}
	return "Job " + j.Job.String()
}

// hasOutlook reports whether all Pods of Jobs are read, and judged by what decides on them.
func (in *Input) hasOutlook(q cluster.Query) bool {
	one := func(t cluster.Target) bool { return t.Kind == cluster.Pod }
	return in.before == nil && !in.Scenarios && !in.bare && !slices.ContainsFunc(q.Targets, one)
}

// urgent reports whether people should see the Job though no Pod of it is listed.
func (j JobItem) urgent() bool {
	if j.Outlook == nil || j.Outlook.Next == nil {
		return false
	}
	switch j.Outlook.Next.Does {
	case controllerplan.Fails:
		return true
	case controllerplan.Failed, controllerplan.Complete, controllerplan.Completes:
		return false
	default:
		return j.Outlook.Failures.Used > 0
	}
}

// String returns a line such as "2 of 6 failures used, deadline in 58m; next Pod in 40s, 1 runs".
func (j JobItem) String() string {
	if j.Outlook == nil {
		return ""
	}
	parts := []string{j.failures()}
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

// next says what happens next, and when.
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
		return "suspended"
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
		text += ", " + runs(j.Outlook.Active)
	}
	return text
}

// present says which Pods are waited for.
func (j JobItem) present() string {
	var parts []string
	if j.Outlook.Active > 0 {
		parts = append(parts, runs(j.Outlook.Active))
	}
	if n := j.Outlook.Terminating; n == 1 {
		parts = append(parts, "1 Pod terminates")
	} else if n > 1 {
		parts = append(parts, fmt.Sprintf("%d Pods terminate", n))
	}
	if len(parts) == 0 {
		return "no Pod is to run"
	}
	return strings.Join(parts, ", ")
}

func runs(pods int) string {
	if pods == 1 {
		return "1 Pod is active"
	}
	return fmt.Sprintf("%d Pods are active", pods)
}

// when says in how long a time comes; nil is now.
func (j JobItem) when(at *metav1.Time) string {
	if at == nil || !at.After(j.now) {
		return "now"
	}
	return "in " + duration.HumanDuration(at.Sub(j.now))
}
