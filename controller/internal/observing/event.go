package observing

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/controller/internal/recorder"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
)

// reasonVerdict is the reason of events about verdicts.
const reasonVerdict = "PodFailureVerdict"

// verdictEvent returns the event for the verdict on a pod, related to its Job. If no rule matched, rules explain why.
func verdictEvent(s *observedPod, rules []runtime.RuleExplanation) *eventsv1.Event {
	pod, v := s.pod, s.verdict
	event := newEvent(podReference(pod), reasonVerdict, string(v.Action), joinNotes(verdictNote(v, rules), s.otherNotes()))
	if v.Err != nil || v.Action == batchv1.PodFailurePolicyActionFailJob || v.Action == batchv1.PodFailurePolicyActionFailIndex {
		event.Type = corev1.EventTypeWarning
	}
	if owner, ok := plan.OwnerOf(pod); ok {
		event.Related = jobReference(owner)
	}
	return event
}

// policyEvent returns the event for a podFailurePolicy of another controller's Job that does not compile.
func policyEvent(owner plan.Owner, err error) *eventsv1.Event {
	event := newEvent(jobReference(owner), recorder.ReasonInvalidPolicy, "Compile", err.Error())
	event.Type = corev1.EventTypeWarning
	return event
}

// newEvent returns an event whose name is derived from the object's UID, so that each object gets one event across restarts and replicas.
func newEvent(regarding *corev1.ObjectReference, reason, action, note string) *eventsv1.Event {
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: regarding.Namespace, Name: "podverdict." + string(regarding.UID)},
		Type:       corev1.EventTypeNormal, Reason: reason, Action: action, Note: recorder.Cut(note),
		Regarding: *regarding, ReportingController: v1alpha1.JobController,
	}
}

// joinNotes joins two notes within the API server's limit. Each gets at least half of it.
func joinNotes(note, besides string) string {
	if besides == "" {
		return note
	}
	const separator = "; "
	room := recorder.MaxNote - len(separator)
	besides = recorder.CutTo(besides, max(room/2, room-len(note)))
	return recorder.CutTo(note, room-len(besides)) + separator + besides
}

// verdictNote describes the verdict in the words of podverdict eval if a rule matched, and of podverdict explain if none matched. An
// ignored error is appended.
func verdictNote(v runtime.Verdict, rules []runtime.RuleExplanation) string {
	if v.Matched && v.Err != nil {
		ignored := v.Err
		v.Err = nil
		return joinNotes(verdictNote(v, rules), fmt.Sprintf("ignored error: %v", ignored))
	}
	switch {
	case v.Err != nil:
		return fmt.Sprintf("%s: error: %v", v.Action, v.Err)
	case v.Policy != "":
		return customNote(v)
	case v.ExitCode != 0:
		return fmt.Sprintf("%s by rule %d: container %s exited with %d", v.Action, v.Rule, v.Container, v.ExitCode)
	case v.Matched:
		return fmt.Sprintf("%s by rule %d: condition %s", v.Action, v.Rule, v.Condition)
	case len(rules) == 0:
		return fmt.Sprintf("%s: no rule matches", v.Action)
	}
	reasons := make([]string, len(rules))
	for i, r := range rules {
		reasons[i] = fmt.Sprintf("%s: %s", r.Subject(), r.Because)
	}
	return fmt.Sprintf("%s: no rule matches: %s", v.Action, strings.Join(reasons, "; "))
}

// customNote returns the message of a custom rule with a shorter introduction, and with its class.
func customNote(v runtime.Verdict) string {
	note := fmt.Sprintf("%s by %s", v.Action, v.Subject())
	if v.Class != "" {
		note += ", class " + v.Class
	}
	if v.IsUsedUp() {
		note += fmt.Sprintf(" after its budget of %s", v.Budget)
	}
	if said := v.Says(); said != "" {
		note += ": " + said
	}
	if v.MessageErr != nil {
		note += fmt.Sprintf(" (its message: %v)", v.MessageErr)
	}
	return v.Hinted(note, recorder.MaxNote)
}

// otherNotes describes the verdicts of custom policies that did not take effect, and the policies that could not be
// evaluated.
func (s *observedPod) otherNotes() string {
	var notes []string
	for _, would := range s.would {
		notes = append(notes, would.Sentence(verdictNote(would.Verdict, nil))+retryNote(s.pod, would.Verdict.Retry))
	}
	for _, problem := range s.problems {
		notes = append(notes, problem.Error())
	}
	return strings.Join(notes, "; ")
}

// retryNote describes how a rule would change the next attempt. The caches do not include the memory requested by the Job.
func retryNote(pod *corev1.Pod, retry *v1alpha1.Retry) string {
	if retry == nil {
		return ""
	}
	var gets []string
	if killed := cel.OOMKilled(pod); retry.Memory != nil && len(killed) > 0 {
		gets = append(gets, fmt.Sprintf("get %s times the memory for %s, at most %s", retry.Memory.Factor, strings.Join(killed, ", "), retry.Memory.Max))
	}
	if node := pod.Spec.NodeName; retry.AvoidNode != "" && node != "" {
		gets = append(gets, fmt.Sprintf("avoid %s (%s)", node, strings.ToLower(string(retry.AvoidNode))))
	}
	if len(gets) == 0 {
		return ""
	}
	return "; the next attempt would " + strings.Join(gets, ", and ")
}

func podReference(pod *corev1.Pod) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
}

func jobReference(job plan.Owner) *corev1.ObjectReference {
	return &corev1.ObjectReference{
		APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job", Namespace: job.Namespace, Name: job.Name, UID: job.UID,
	}
}

// lastSign returns the latest time in the status of a failed pod. The pod failed at that time or later.
func lastSign(pod *corev1.Pod) time.Time {
	last := pod.CreationTimestamp.Time
	see := func(t metav1.Time) {
		if t.After(last) {
			last = t.Time
		}
	}
	for i := range pod.Status.Conditions {
		see(pod.Status.Conditions[i].LastTransitionTime)
	}
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if t := statuses[i].State.Terminated; t != nil {
				see(t.FinishedAt)
			}
		}
	}
	return last
}
