package evidence

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/kube/failure"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/runtime"
)

// State is the final state of a Job, or Unfinished.
type State string

// The states of a Job.
const (
	Unfinished State = "Unfinished" // or not in the input
	Complete   State = "Complete"
	Failed     State = "Failed"
)

// Outcome is the result of a Job and its Pods.
type Outcome struct {
	Namespace, Job string
	// Owner identifies the creator of Jobs like this one by namespace, kind and name, such as batch/cronjob/nightly. A Job without a
	// creator is its own owner.
	Owner string
	State State
	// Known reports whether the Job is in the input.
	Known bool
	// Rules reports whether any rule could have decided: the Job has a podFailurePolicy, or a custom policy decides. InForce names these
	// rules as Attempts name them, as far as they are known.
	Rules   bool
	InForce []string
	// Disrupted reports whether the Job failed because a limit on failures was exceeded, and most of the counted failures were disruptions.
	Disrupted bool
	// Attempts holds the Pods that have ended, sorted by end time.
	Attempts []Attempt
}

// Attempt is a Pod that has ended.
type Attempt struct {
	Pod string
	// Line is the completion index, or 0 for all Pods of a Job without indexes. Attempts of the same line follow each other.
	Line       int
	Start, End time.Time // zero if unknown
	Reserved   Amounts   // resources reserved while the Pod ran

	// Failed reports whether the Pod failed; Verdict then classifies the failure. Judged reports whether the Job's rules are known.
	Failed  bool
	Judged  bool
	Verdict runtime.Verdict
	// Recorded reports whether the verdict was recorded when the Pod failed.
	Recorded bool

	Node, Image string
	// Container is the first container that failed, and Code its exit code. Reason is the reason of a disruption, else of the Pod, else of
	// the container. Each is empty if unknown.
	Container, Code, Reason string
	// Disrupted reports whether the Pod has the condition DisruptionTarget. Stopped reports whether it ended because its Job had ended; the
	// Pod itself did not cause the failure.
	Disrupted, Stopped bool

	// Later is the number of attempts of the line that began after this one. Recovered reports whether the line succeeded in the end.
	Later     int
	Recovered bool
	// Vain reports whether attempts followed this one, but the line ended with the same failure.
	Vain bool
}

// outcome is an Outcome that may still receive Pods.
type outcome struct {
	Outcome

	job   *batchv1.Job    // with the API's defaults, or nil
	rules *snapshot.Rules // nil if only recorded verdicts are available
	// other holds the rules to compare with, or nil. named holds their verdicts by Pod name.
	other *snapshot.Rules
	named map[string]runtime.Verdict

	waiting []manifest.Pod // not judged yet, because the rules need all Pods
}

// Of returns the Outcome of a Job. Without a rulebook, or without a Job, it has only recorded verdicts.
func Of(ctx context.Context, f gathering.Family, book *snapshot.Rulebook) (Outcome, error) {
	o, err := newOutcome(ctx, f, book)
	if err != nil {
		return o.Outcome, err
	}
	o.add(ctx, f.Pods, false)
	return *o.end(), nil
}

// newOutcome returns the outcome of a Job before its Pods are added. A family without a Job must have a Pod, which ownerOf reads.
func newOutcome(ctx context.Context, f gathering.Family, book *snapshot.Rulebook) (*outcome, error) {
	o := &outcome{}
	if f.Job != nil {
		o.job = f.Job.Stored()
	}
	o.Outcome = Outcome{Namespace: f.Namespace, Job: f.Name, Owner: ownerOf(f), State: stateOf(o.job), Known: o.job != nil}
	if o.job != nil && book != nil {
		rules, err := book.For(ctx, o.job)
		if err != nil {
			return o, fmt.Errorf("job %s/%s: %w", f.Namespace, f.Name, err)
		}
		o.rules, o.InForce = &rules, inForce(rules.Effect.Acting)
	}
	o.Rules = o.job != nil && o.job.Spec.PodFailurePolicy != nil || len(o.InForce) > 0
	return o, nil
}

// add adds Pods. If verdicts may depend on other Pods, it queues them until all have been added.
func (o *outcome) add(ctx context.Context, pods []manifest.Pod, more bool) {
	if more && (o.rules != nil && !o.rules.Selection.Empty() || o.other != nil && !o.other.Selection.Empty()) {
		o.waiting = append(o.waiting, pods...)
		return
	}
	if len(o.waiting) > 0 {
		pods, o.waiting = append(o.waiting, pods...), nil
	}
	decisions := make([]snapshot.Decision, len(pods))
	if o.rules != nil {
		decisions = snapshotOf(pods, o.job, *o.rules, true).Decisions(ctx)
	}
	if o.other != nil {
		for i, d := range snapshotOf(pods, o.job, *o.other, false).Decisions(ctx) {
			o.named[pods[i].Object.Name] = d.Verdict
		}
	}
	for i, p := range pods {
		pod := p.Object
		if pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded {
			continue
		}
		a := attemptOf(pod)
		a.Stopped = a.Failed && !a.Disrupted && stopped(o.job, pod, a.End)
		a.Judged, a.Verdict = o.rules != nil, decisions[i].Verdict
		if p.Recorded != nil {
			a.Judged, a.Verdict, a.Recorded = true, *p.Recorded, true
		}
		o.Rules = o.Rules || a.Verdict.Policy != ""
		o.Attempts = append(o.Attempts, a)
	}
}

// end returns the Outcome after all Pods have been added.
func (o *outcome) end() *Outcome {
	o.follow(o.job)
	return &o.Outcome
}

func attemptOf(pod *corev1.Pod) Attempt {
	a := Attempt{
		Pod: pod.Name, Node: pod.Spec.NodeName, Failed: pod.Status.Phase == corev1.PodFailed, End: plan.FinishTime(pod),
		Image: imageOf(pod, ""),
	}
	if pod.Status.StartTime != nil {
		a.Start = pod.Status.StartTime.Time
		a.Reserved = reserved(pod, a.End.Sub(a.Start))
	}
	if index, err := strconv.ParseUint(cmp.Or(pod.Annotations[batchv1.JobCompletionIndexAnnotation], pod.Labels[batchv1.JobCompletionIndexAnnotation]), 10, 31); err == nil {
		a.Line = int(index)
	}
	if a.Failed {
		a.because(pod)
	}
	return a
}

// because sets the reason for the Pod's failure.
func (a *Attempt) because(pod *corev1.Pod) {
	facts := failure.Of(pod)
	if failing := facts.Failing(); len(failing) > 0 {
		c := failing[0]
		a.Container, a.Reason, a.Image = c.Name, c.Reason, imageOf(pod, c.Name)
		if c.ExitCode != nil {
			a.Code = strconv.Itoa(int(*c.ExitCode))
		}
	}
	a.Reason = cmp.Or(pod.Status.Reason, a.Reason)
	for _, c := range facts.Conditions {
		if c.Type == corev1.DisruptionTarget {
			a.Reason, a.Disrupted = cmp.Or(c.Reason, string(c.Type)), true
		}
	}
}

// stopped reports whether a Pod ended because it was deleted when its Job was decided. The Job's condition may be up to 5 seconds later:
// clocks differ, and the controller sets the condition only after all Pods are deleted.
func stopped(job *batchv1.Job, pod *corev1.Pod, end time.Time) bool {
	if job == nil || pod.DeletionTimestamp == nil {
		return false
	}
	asked := pod.DeletionTimestamp.Add(-time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second)
	decisions := []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed, batchv1.JobSuccessCriteriaMet, batchv1.JobComplete}
	return !end.Before(asked) && slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Status == corev1.ConditionTrue && slices.Contains(decisions, c.Type) &&
			!c.LastTransitionTime.IsZero() && !asked.Before(c.LastTransitionTime.Add(-5*time.Second))
	})
}

// imageOf returns the image of a container, or of the first container if the name is empty.
func imageOf(pod *corev1.Pod, container string) string {
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		if c.Name == container || container == "" {
			return c.Image
		}
	}
	return ""
}

// follow determines what followed each attempt.
func (o *Outcome) follow(job *batchv1.Job) {
	recovered := o.recovered(job)
	starts := map[int][]time.Time{}
	for _, a := range o.Attempts {
		starts[a.Line] = append(starts[a.Line], a.Start)
	}
	for _, times := range starts {
		slices.SortFunc(times, time.Time.Compare)
	}
	last, disruptions := map[int]string{}, 0
	for i := range o.Attempts {
		switch a := &o.Attempts[i]; {
		case !a.Failed || a.Stopped:
			continue
		case a.Disrupted && a.Verdict.Counted:
			disruptions++
		case a.Verdict.Counted:
			disruptions--
		}
		last[o.Attempts[i].Line] = o.Attempts[i].symptom()
	}
	for i := range o.Attempts {
		a := &o.Attempts[i]
		a.Recovered = recovered(a.Line)
		if a.End.IsZero() {
			continue
		}
		before, _ := slices.BinarySearchFunc(starts[a.Line], a.End, time.Time.Compare)
		a.Later = len(starts[a.Line]) - before
		if a.Start.Equal(a.End) {
			a.Later-- // excludes the attempt itself
		}
		a.Vain = a.Failed && !a.Recovered && a.Later > 0 && a.symptom() == last[a.Line]
	}
	o.Disrupted = disruptions > 0 && limitExceeded(job)
}

// limitExceeded reports whether a Job failed because the Job or an index had too many failures.
func limitExceeded(job *batchv1.Job) bool {
	return job != nil && slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue && slices.Contains([]string{
			batchv1.JobReasonBackoffLimitExceeded, batchv1.JobReasonFailedIndexes, batchv1.JobReasonMaxFailedIndexesExceeded,
		}, c.Reason)
	})
}

// recovered returns a function that reports whether a line has succeeded.
func (o *Outcome) recovered(job *batchv1.Job) func(line int) bool {
	indexed := job != nil && job.Spec.CompletionMode != nil && *job.Spec.CompletionMode == batchv1.IndexedCompletion
	if o.State == Complete && job.Spec.SuccessPolicy == nil {
		return func(int) bool { return true }
	}
	succeeded := map[int]bool{}
	for _, a := range o.Attempts {
		if !a.Failed && (indexed || job == nil) {
			succeeded[a.Line] = true
		}
	}
	completed := func(int) bool { return false }
	if indexed {
		completed = plan.InIndexes(job.Status.CompletedIndexes)
	}
	return func(line int) bool { return succeeded[line] || completed(line) }
}

func stateOf(job *batchv1.Job) State {
	if job == nil {
		return Unfinished
	}
	for _, c := range job.Status.Conditions {
		switch {
		case c.Status != corev1.ConditionTrue:
		case c.Type == batchv1.JobComplete:
			return Complete
		case c.Type == batchv1.JobFailed:
			return Failed
		}
	}
	return Unfinished
}

// ownerOf returns the creator of Jobs like this one.
func ownerOf(f gathering.Family) string {
	if f.Name == "" && len(f.Pods) > 0 {
		pod := f.Pods[0].Object
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
			return f.Namespace + "/" + strings.ToLower(owner.Kind) + "/" + owner.Name // such as a Workflow or a TaskRun
		}
		return f.Namespace + "/pod/" + pod.Name
	}
	var object metav1.Object
	if f.Job != nil {
		object = f.Job.Object
	} else {
		object = &metav1.ObjectMeta{Labels: f.Pods[0].Object.Labels}
	}
	if set := object.GetLabels()[v1alpha2.JobSetNameKey]; set != "" {
		return f.Namespace + "/jobset/" + set
	}
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
		return f.Namespace + "/" + strings.ToLower(owner.Kind) + "/" + owner.Name
	}
	if prefix := object.GetGenerateName(); prefix != "" {
		return f.Namespace + "/job/" + prefix + "*"
	}
	return f.Namespace + "/job/" + f.Name
}
