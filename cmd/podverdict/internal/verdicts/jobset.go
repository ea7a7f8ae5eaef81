package verdicts

import (
	"cmp"
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	controllerplan "github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/kube/jobset"
)

// jobSetItem is the reaction of a JobSet when one of its Jobs fails.
type jobSetItem struct {
	manifest.Reference
	// Job holds the reason and message of the Job's Failed condition.
	Job jobSetCause `json:"job"`
	// Rule is the index of the failurePolicy rule that applies, and RuleName its name; absent when no rule applies.
	Rule     *int   `json:"rule,omitempty"`
	RuleName string `json:"ruleName,omitempty"`
	// Action is absent when the JobSet has no failurePolicy.
	Action string `json:"action,omitempty"`
	// Restarts is the number of the restart that follows. MaxRestarts is absent when the restart does not count.
	Restarts    int32  `json:"restarts,omitempty"`
	MaxRestarts *int32 `json:"maxRestarts,omitempty"`
	// Outcome is Failed, Restarted, JobRestarted, or Unchanged.
	Outcome string `json:"outcome"`
	// Reason and Message come from the JobSet's condition or event.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// jobSetCause is the Job failure that a JobSet reacts to.
type jobSetCause struct {
	Name    string `json:"name"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Outcomes of a JobSet.
const (
	jobSetFailed    = "Failed"
	jobSetRestarted = "Restarted"
	jobRestarted    = "JobRestarted"
	jobSetUnchanged = "Unchanged"
)

// line describes how the Job fails and how its JobSet reacts: "the Job fails: PodFailurePolicy; its JobSet: RestartJobSet by rule 1
// (podfail), restart 1 of 3".
func (i *jobSetItem) line() string {
	return "the Job fails: " + i.Job.Reason + "; its JobSet" + i.Does()
}

// Does describes the JobSet's reaction. The text follows the JobSet's name.
func (i *jobSetItem) Does() string {
	switch {
	case i.Action == "":
		return " fails: it has no failurePolicy"
	case i.Outcome == jobSetUnchanged:
		return ": " + i.decides() + ": " + i.Message
	case i.Reason == jobset.ReasonReachedMaxRestarts:
		return fmt.Sprintf(" fails: maxRestarts %d is used up, for %s", *i.MaxRestarts, i.decides())
	case i.Outcome == jobSetFailed:
		return " fails: " + i.decides()
	case i.MaxRestarts != nil:
		return fmt.Sprintf(": %s, restart %d of %d", i.decides(), i.Restarts, *i.MaxRestarts)
	}
	return fmt.Sprintf(": %s, restart %d, which does not count", i.decides(), i.Restarts)
}

// decides names the action and the rule.
func (i *jobSetItem) decides() string {
	switch {
	case i.Rule == nil:
		return i.Action + ", as no rule applies"
	case i.RuleName == "":
		return fmt.Sprintf("%s by rule %d", i.Action, *i.Rule)
	}
	return fmt.Sprintf("%s by rule %d (%s)", i.Action, *i.Rule, i.RuleName)
}

// then describes how a scenario affects the Job and its JobSet, or returns "".
func (i Item) then() string {
	if i.JobSet == nil {
		return ""
	}
	return i.JobSet.line()
}

// sameJobSet reports whether two JobSets react the same way, regardless of the rule.
func sameJobSet(a, b *jobSetItem) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Outcome == b.Outcome && a.Action == b.Action && a.Restarts == b.Restarts
}

// inEffect describes the JobSet's reaction. The text follows the verdict's effect on the Job.
func (i *jobSetItem) inEffect() string {
	if i == nil {
		return ""
	}
	return fmt.Sprintf(" (JobSet: %s)", cmp.Or(i.Action, i.Reason))
}

// failing returns the Job in the state after its next step, if that step fails the Job. It returns nil for other steps and for Jobs
// without a JobSet.
func (p *Plan) failing(step *controllerplan.Step, now time.Time) *batchv1.Job {
	if p.Job.JobSet == nil || step == nil || step.Does != controllerplan.Failed && step.Does != controllerplan.Fails {
		return nil
	}
	job := p.Stored.DeepCopy()
	if step.Does == controllerplan.Fails {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
			Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: step.Reason, Message: step.Message,
			LastTransitionTime: ptr.Deref(step.At, metav1.NewTime(now)),
		})
	}
	return job
}

// jobSet returns the reaction of the JobSet to its failed Jobs, one or more.
func (p *Plan) jobSet(failed ...*batchv1.Job) *jobSetItem {
	set := p.Job.JobSet
	d := jobset.Decide(set, failed, jobset.GatesOf(set))
	if d.Job == nil {
		return nil
	}
	item := &jobSetItem{
		Reference: manifest.Reference{Namespace: p.Job.Reference().Namespace, Name: set.Name},
		RuleName:  d.RuleName, Action: string(d.Action), Restarts: d.Restart, Reason: d.Reason, Message: d.Message,
	}
	for _, c := range d.Job.Status.Conditions {
		if c.Type == batchv1.JobFailed {
			item.Job = jobSetCause{d.Job.Name, c.Reason, c.Message}
		}
	}
	if d.Rule >= 0 {
		item.Rule = &d.Rule
	}
	if d.Counted || d.Reason == jobset.ReasonReachedMaxRestarts {
		item.MaxRestarts = &set.Spec.FailurePolicy.MaxRestarts
	}
	switch {
	case d.Failed:
		item.Outcome = jobSetFailed
	case d.Restart == 0:
		item.Outcome = jobSetUnchanged
	case d.Action == v1alpha2.RestartJob, d.Action == v1alpha2.RestartJobAndIgnoreMaxRestarts:
		item.Outcome = jobRestarted
	default:
		item.Outcome = jobSetRestarted
	}
	return item
}

// addScenarioJobSets adds the reaction of the Job's JobSet to each scenario, assuming that the scenario's Pod is the Job's first to fail.
func (p *Plan) addScenarioJobSets(ctx context.Context, items []Item, now time.Time) {
	if p.Job.JobSet == nil {
		return
	}
	for i := range items {
		if items[i].Scenario == "" {
			continue
		}
		outlook := p.Snapshot.Outlook(ctx, i)
		if failed := p.failing(outlook.Next, now); failed != nil {
			items[i].JobSet = p.jobSet(failed)
		}
	}
}
