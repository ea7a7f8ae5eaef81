package verdicts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/kube/failure"
	"github.com/podverdict/podverdict/internal/kube/podstate"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// list is eval's JSON and YAML output. Its format is stable, as other programs read it.
type list struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Items      []Item    `json:"items"`
	Jobs       []JobItem `json:"jobs,omitempty"`
}

func newList() list {
	return list{APIVersion: print.APIVersion, Kind: "VerdictList", Items: []Item{}}
}

// Item is the verdict on a Pod, with the facts that explain it.
type Item struct {
	Job     manifest.Reference `json:"job,omitzero"` // absent when the Pod has no Job
	Pod     manifest.Reference `json:"pod"`
	Verdict runtime.Verdict    `json:"verdict"` // verdict that takes effect
	// Failure describes how the Pod failed; absent when no part of it failed.
	Failure *failure.Facts `json:"failure,omitempty"`
	// Restarts are the containers that restart in the Pod, or have restarted; the first one decides about the Pod.
	Restarts []restartItem `json:"restarts,omitempty"`
	// NotCounted is why the failure does not count, whatever the rules; absent if the rules decide.
	NotCounted string `json:"notCounted,omitempty"`
	// Waiting is what a Pod waits for that has not ended; absent if it runs or starts as usual.
	Waiting *podstate.Wait `json:"waiting,omitempty"`
	// Would are verdicts that are not carried out, with reasons.
	Would []binding.Would `json:"would,omitempty"`
	// Audit is the verdict in Would that assumes audited policies are enforced; absent when it does not differ.
	Audit *runtime.Verdict `json:"audit,omitempty"`
	// Living is the verdict on a living Pod's failure, if a rule on its phase matched.
	Living *runtime.Verdict `json:"living,omitempty"`
	// Ended reports whether the Pod is to be ended because of Living, for Jobs of any manager. If not, Would gives the reason.
	Ended bool `json:"ended,omitempty"`
	// Scenario is the name of the Pod's built-in scenario; absent for a Pod of the input.
	Scenario string `json:"scenario,omitempty"`
	// JobSet is the reaction of the Job's JobSet when a scenario fails the Job. For Pods of the input it is part of the JobItem.
	JobSet *jobSetItem `json:"jobSet,omitempty"`
	// Retry describes the changes to the next attempt; absent if no rule with a retry matched at the Pod's index.
	Retry *retryItem `json:"retry,omitempty"`
	// Before is the verdict under the rules before a change, and Changed reports whether the effect on the Job differs.
	Before  *beforeItem `json:"before,omitempty"`
	Changed bool        `json:"changed,omitempty"`

	object  *corev1.Pod
	now     time.Time
	counts  bool            // as failed, though it has not ended
	decided runtime.Verdict // as if podverdict ran the Job; only where rules have a retry
	noRules string          // why no rule decides; "" when there are rules
	// afterEnd describes the effect of the failure of an ended Pod whose rule's action is not carried out.
	afterEnd string
}

// Judge returns the verdicts on the plan's Pods, in their order. Given the plan before a change of the rules, it compares both verdicts
// on each Pod, and puts changed verdicts first.
func (p *Plan) Judge(ctx context.Context, now time.Time, before ...*Plan) *Judged {
	one := &Judged{JobItem: p.jobItem(now), Items: make([]Item, len(p.Pods)), Plan: p}
	p.Snapshot = p.snapshotAt(now)
	for i := range p.Pods {
		one.Items[i] = p.item(ctx, i)
	}
	for _, item := range one.Items {
		if item.heldUp() {
			one.heldUp[item.Waiting.Cause]++
		}
	}
	p.addScenarioJobSets(ctx, one.Items, now)
	p.addRetries(ctx, one.Items)
	for _, old := range before {
		compare(old.Judge(ctx, now).Items, one.Items)
	}
	return one
}

func (p *Plan) jobItem(now time.Time) JobItem {
	job := p.Stored
	one := JobItem{
		Job: p.name(), namespace: job.Namespace, now: now, heldUp: map[podstate.Cause]int{}, pods: len(p.Pods),
		replaces: ptr.Deref(job.Spec.PodReplacementPolicy, ""), restarts: job.Spec.Template.Spec.RestartPolicy,
		queue: job.Labels[binding.KueueQueue], owner: metav1.GetControllerOf(job),
	}
	for i, c := range job.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
			one.failed = &job.Status.Conditions[i]
		}
	}
	return one
}

// item returns the verdict on the Pod at an index, and what policies without effect and rules on living Pods would decide.
func (p *Plan) item(ctx context.Context, i int) Item {
	pod, beside := &p.Pods[i], p.Snapshot.Beside(ctx, i)
	item := Item{
		Job: p.name(), Pod: pod.Reference(), Verdict: p.Snapshot.Decisions(ctx)[i].Verdict, Would: beside.Would, Audit: beside.Audit, Living: beside.Living,
		object: pod.Object, now: p.Snapshot.Now, noRules: p.noRules, Ended: beside.Ended, afterEnd: p.afterEnd(beside),
	}
	if pod.facts.First {
		item.Scenario = pod.Object.Name
	}
	if !pod.facts.First {
		if item.Verdict.Counted {
			item.NotCounted = notCounted(p.Stored, pod.Object)
			item.Verdict.Counted = item.NotCounted == ""
		}
		item.counts = p.countsEarly(pod.Object)
		item.Waiting = podstate.Of(pod.Object, podstate.Node{Object: pod.facts.Node, Known: pod.facts.NodesRead}, item.now)
	}
	facts := failure.Of(pod.Object)
	item.Restarts = p.restarts(pod.Object, &facts)
	if facts.Failed(pod.Object.Status.Phase) {
		if item.Failure = &facts; !p.Missing.Pods && !p.Missing.Order {
			facts.Attempt = p.Snapshot.Pods[i].Attempt
		}
	}
	return item
}

// noDecider is the reason shown for Pods without a Job and without rules.
const noDecider = "no Job decides"

// noOwnRules is the reason shown for a Job that only custom policies could judge.
const noOwnRules = "no podFailurePolicy"

// ruleIsTrue is the reason shown for a custom rule without a reason or a message.
const ruleIsTrue = "its expression is true"

func (i Item) action() string {
	if !i.Verdict.Terminal {
		return print.None
	}
	return cmp.Or(string(i.Verdict.Action), print.None)
}

func (i Item) counted() string {
	switch {
	case !i.Verdict.Terminal, i.Verdict.Action == "":
		return print.None
	case i.Verdict.Counted:
		return "yes"
	}
	return "no"
}

func (i Item) rule() string {
	switch {
	case i.Verdict.Matched:
		return ruleCell(i.Verdict)
	case i.Living != nil && i.Living.Matched:
		return ruleCell(*i.Living)
	}
	return print.None
}

// ruleCell returns a rule's name without spaces: its index, or "policy/rule" for a custom rule.
func ruleCell(v runtime.Verdict) string {
	if v.Policy != "" {
		return v.Policy + "/" + v.RuleName
	}
	return strconv.Itoa(v.Rule)
}

// because describes how the Pod failed and what decided. The decision comes first if its container was not at fault, such as a sidecar
// that was stopped.
func (i Item) because() string {
	switch {
	case !i.Verdict.Terminal:
		return i.Decisive()
	case i.NotCounted != "":
		return i.Failure.Summary + "; not counted: " + i.NotCounted
	case i.told(), i.noRules == noDecider:
		return i.Failure.Summary
	case i.bystander():
		return i.Decisive() + "; " + i.Failure.Summary
	}
	return i.Failure.Summary + "; " + i.Decisive()
}

// bystander reports whether containers failed, but not the one whose exit code decided.
func (i Item) bystander() bool {
	failing := i.Failure.Failing()
	decided := func(c *failure.Container) bool { return c.Name == i.Verdict.Container }
	return i.Verdict.ExitCode != 0 && len(failing) > 0 && !slices.ContainsFunc(failing, decided)
}

// told reports whether the failure summary already names the condition or container that the rule matched.
func (i Item) told() bool {
	switch v := i.Verdict; {
	case v.Err != nil:
		return false
	case v.ExitCode != 0:
		failing := i.Failure.Failing()
		return len(failing) == 1 && failing[0].Name == v.Container
	case v.Condition != "":
		return slices.ContainsFunc(i.Failure.Conditions, func(c failure.Condition) bool { return c.Type == v.Condition })
	}
	return false
}

// Decisive returns the reason for the verdict, followed by the error of an earlier rule if it was ignored.
func (i Item) Decisive() string {
	if v := i.Verdict; v.Matched && v.Err != nil {
		return i.reason() + "; ignored error: " + v.Err.Error()
	}
	return i.reason()
}

func (i Item) reason() string {
	v := i.Verdict
	switch {
	case i.Living != nil:
		return i.PhaseText() + ": " + i.LivingText()
	case i.Restarting() != "":
		return i.restartText()
	case !v.Terminal && i.Failure != nil:
		return i.notTerminal() + ": " + i.Failure.Summary
	case !v.Terminal:
		return i.notTerminal()
	case v.Err != nil && !v.Matched:
		return "error: " + v.Err.Error()
	case v.ExitCode != 0:
		return fmt.Sprintf("container %s exited with %d", v.Container, v.ExitCode)
	case v.IsUsedUp():
		return fmt.Sprintf("%s, after its budget of %s", cmp.Or(v.Says(), ruleIsTrue), v.Budget)
	case v.Policy != "":
		return cmp.Or(v.Says(), ruleIsTrue)
	case v.Matched:
		return fmt.Sprintf("condition %s", v.Condition)
	case i.noRules != "" && len(i.Would) == 0:
		return i.noRules
	case i.noRules != "":
		return noOwnRules
	}
	return "no rule matches"
}

// notTerminal explains why a Pod has no verdict yet.
func (i Item) notTerminal() string {
	phase := cmp.Or(string(i.object.Status.Phase), "unknown")
	switch w := i.Waiting; {
	case w == nil:
		return "phase is " + phase
	case w.Cause == podstate.Deleted && i.counts:
		return w.Text() + "; counts as failed already"
	case w.Cause == podstate.Deleted:
		return w.Text() + "; phase is " + phase
	default:
		return w.Text()
	}
}

// heldUp reports whether the Pod waits for something that may never happen.
func (i Item) heldUp() bool { return i.Waiting != nil && i.Waiting.HoldsUp(i.now) }
