package failure

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Facts describe how a pod failed. Fields that do not apply are absent from the JSON form, which is a contract with other
// programs.
type Facts struct {
	// Summary is a line for people.
	Summary string `json:"summary"`
	// Containers holds the containers that have ended or wait, with init containers last.
	Containers []Container `json:"containers,omitempty"`
	// Conditions holds the true conditions, except those that every pod has.
	Conditions []Condition `json:"conditions,omitempty"`
	// Reason and Message are the reason and message of the pod's status.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Deleted is the time at which the deletion of the pod was requested, if containers still ran then.
	Deleted *metav1.Time `json:"deleted,omitempty"`
	// Node is the pod's node.
	Node string `json:"node,omitempty"`
	// Duration is the time from the pod's start to the end of its last container, such as 12m3s.
	Duration string `json:"duration,omitempty"`
	// Attempt is the attempt number at the pod's index or slot, from 1; 0 if unknown.
	Attempt int64 `json:"attempt,omitempty"`
}

// Container describes how a container ended, or why it waits.
type Container struct {
	Name string `json:"name"`
	// Kind is init or sidecar; it is empty for other containers.
	Kind string `json:"kind,omitempty"`
	// ExitCode is nil if the container has not ended.
	ExitCode *int32 `json:"exitCode,omitempty"`
	// Reason is the kubelet's reason, such as OOMKilled, Error or ImagePullBackOff.
	Reason string `json:"reason,omitempty"`
	// Message is the termination message, or the details of why the container waits.
	Message string `json:"message,omitempty"`
	// Duration is the time that the container ran.
	Duration string `json:"duration,omitempty"`
	Restarts int32  `json:"restarts,omitempty"`
}

// Condition is a true condition of the pod.
type Condition struct {
	Type    corev1.PodConditionType `json:"type"`
	Reason  string                  `json:"reason,omitempty"`
	Message string                  `json:"message,omitempty"`
}

// Of returns the facts of a pod, without the attempt number, which depends on the Job's other pods.
func Of(pod *corev1.Pod) Facts {
	s := &pod.Status
	f := Facts{Reason: s.Reason, Message: s.Message, Node: pod.Spec.NodeName}
	last := f.add(s.ContainerStatuses, func(string) string { return "" })
	if init := f.add(s.InitContainerStatuses, kinds(pod)); init.After(last) {
		last = init
	}
	for _, c := range s.Conditions {
		if c.Status == corev1.ConditionTrue && !usual[c.Type] {
			f.Conditions = append(f.Conditions, Condition{c.Type, c.Reason, c.Message})
		}
	}
	if s.StartTime != nil {
		f.Duration = between(*s.StartTime, metav1.NewTime(last))
	}
	if d := pod.DeletionTimestamp; d != nil {
		requested := metav1.NewTime(d.Add(-time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second))
		if !last.Before(requested.Time) {
			f.Deleted = &requested
		}
	}
	f.Summary = f.summary()
	return f
}

// usual holds the conditions that the scheduler and the kubelet set on every pod.
var usual = map[corev1.PodConditionType]bool{
	corev1.PodScheduled: true, corev1.PodReadyToStartContainers: true, corev1.PodInitialized: true,
	corev1.ContainersReady: true, corev1.PodReady: true,
}

// kinds returns a function that maps the name of a pod's init container to its kind.
func kinds(pod *corev1.Pod) func(name string) string {
	return func(name string) string {
		for i := range pod.Spec.InitContainers {
			c := &pod.Spec.InitContainers[i]
			if c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
				return kindSidecar
			}
		}
		return kindInit
	}
}

// add adds the containers that have ended or wait, and returns the time at which the last of them ended.
func (f *Facts) add(statuses []corev1.ContainerStatus, kind func(name string) string) (last time.Time) {
	for i := range statuses {
		s := &statuses[i]
		c := Container{Name: s.Name, Kind: kind(s.Name), Restarts: s.RestartCount}
		ended := s.State.Terminated
		if ended == nil {
			ended = s.LastTerminationState.Terminated
		}
		switch waiting := s.State.Waiting; {
		case ended != nil:
			c.ExitCode, c.Reason, c.Message = &ended.ExitCode, ended.Reason, ended.Message
			c.Duration = between(ended.StartedAt, ended.FinishedAt)
			if ended.FinishedAt.After(last) {
				last = ended.FinishedAt.Time
			}
		case waiting != nil && waiting.Reason != "":
			c.Reason, c.Message = waiting.Reason, waiting.Message
		default:
			continue
		}
		f.Containers = append(f.Containers, c)
	}
	return last
}

// between returns the time from start to end, or "" if either is unknown.
func between(start, end metav1.Time) string {
	if start.IsZero() || end.IsZero() || end.Time.Before(start.Time) {
		return ""
	}
	return end.Sub(start.Time).Round(time.Second).String()
}

// Failing returns the containers that failed or cannot start. It omits containers that the kubelet stopped or killed:
// sidecars, and all containers of a disrupted pod.
func (f *Facts) Failing() []*Container {
	disrupted := f.disrupted()
	var all []*Container
	for i := range f.Containers {
		c := &f.Containers[i]
		expected := c.stopped() && (disrupted || c.Kind == kindSidecar)
		if c.String() != "" && !expected {
			all = append(all, c)
		}
	}
	return all
}

func (f *Facts) disrupted() bool {
	return slices.ContainsFunc(f.Conditions, func(c Condition) bool { return c.Type == corev1.DisruptionTarget })
}

func (f *Facts) summary() string {
	var parts []string
	failing := f.Failing()
	switch {
	case f.Reason != "" && len(failing)+len(f.Conditions) == 0:
		parts = append(parts, with(f.Reason, shortened(f.Message)))
	case f.Reason != "":
		parts = append(parts, f.Reason)
	}
	for _, c := range f.Conditions {
		parts = append(parts, with(string(c.Type), c.Reason))
	}
	if f.Deleted != nil && len(f.Conditions) == 0 {
		parts = append(parts, "deleted while it ran")
	}
	for _, c := range failing {
		parts = append(parts, c.String())
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case slices.ContainsFunc(f.Containers, func(c Container) bool { return c.ExitCode != nil }):
		return "all containers exited with 0"
	}
	return "no container has ended"
}

// Failed reports whether the pod failed, or one of its containers failed and was restarted.
func (f *Facts) Failed(phase corev1.PodPhase) bool {
	failed := func(c Container) bool { return c.ExitCode != nil && *c.ExitCode != 0 }
	return phase == corev1.PodFailed || phase != corev1.PodSucceeded && slices.ContainsFunc(f.Containers, failed)
}

// maxMessage is the maximum number of characters of the pod's message in the summary.
const maxMessage = 80

func shortened(message string) string {
	message = strings.TrimRight(message, " .\n")
	if runes := []rune(message); len(runes) > maxMessage {
		return string(runes[:maxMessage]) + "..."
	}
	return message
}

// with appends a remark to a text.
func with(text, remark string) string {
	if remark == "" {
		return text
	}
	return text + " (" + remark + ")"
}
