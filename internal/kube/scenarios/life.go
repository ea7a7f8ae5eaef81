package scenarios

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reasons that the kubelet gives for the end of a container.
const (
	ReasonError     = "Error"
	ReasonCompleted = "Completed"

	reasonOOMKilled     = "OOMKilled"
	reasonStatusUnknown = "ContainerStatusUnknown"
	messageNotLocated   = "The container could not be located when the pod was terminated"
)

// Times in every Pod: when it is created, when its containers start, and when they end.
var (
	created = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	started = created.Add(5 * time.Second)
	ended   = created.Add(65 * time.Second)
)

// life changes a Pod and its node step by step, as Kubernetes would.
type life struct {
	pod  *corev1.Pod
	node *corev1.Node // nil if it is gone
}

// newLife returns a Pod on a node, as the Job controller creates it.
func newLife(job *batchv1.Job) *life {
	template := job.Spec.Template.DeepCopy()
	if len(template.Spec.Containers) == 0 { // an incomplete Job, as for kustomize
		template.Spec.Containers = PlainJob().Spec.Template.Spec.Containers
	}
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: cmp.Or(job.Name, strings.TrimSuffix(job.GenerateName, "-")) + "-pod",
			Labels: template.Labels, Annotations: template.Annotations, CreationTimestamp: metav1.NewTime(created),
		},
		Spec: template.Spec,
	}
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	maps.Copy(pod.Labels, map[string]string{batchv1.JobNameLabel: job.Name, "job-name": job.Name})
	if job.UID != "" {
		maps.Copy(pod.Labels, map[string]string{batchv1.ControllerUidLabel: string(job.UID), "controller-uid": string(job.UID)})
	}
	if mode := job.Spec.CompletionMode; mode != nil && *mode == batchv1.IndexedCompletion {
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Labels[batchv1.JobCompletionIndexAnnotation], pod.Annotations[batchv1.JobCompletionIndexAnnotation] = "0", "0"
	}
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	l := &life{pod, readyNode()}
	pod.Spec.NodeName = l.node.Name
	l.begins()
	return l
}

// begins sets the initial statuses of containers, in the kubelet's order, and the initial conditions.
func (l *life) begins() {
	s := &l.pod.Status
	s.StartTime = new(metav1.NewTime(created))
	s.Conditions = nil
	for _, t := range []corev1.PodConditionType{
		corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
	} {
		s.Conditions = append(s.Conditions, corev1.PodCondition{
			Type: t, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(created),
		})
	}
	s.InitContainerStatuses = statusesOf(l.pod.Spec.InitContainers)
	s.ContainerStatuses = statusesOf(l.pod.Spec.Containers)
}

func statusesOf(containers []corev1.Container) []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for _, c := range containers {
		statuses = append(statuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image, Started: new(false)})
	}
	return statuses
}

func (l *life) first() *corev1.ContainerStatus { return &l.pod.Status.ContainerStatuses[0] }

// Terminated returns the state of a container that has ended.
func Terminated(code int32, reason string) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, StartedAt: metav1.NewTime(started), FinishedAt: metav1.NewTime(ended),
	}
}

// notLocated returns the state of a container that the kubelet can no longer find.
func notLocated() *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{ExitCode: 137, Reason: reasonStatusUnknown, Message: messageNotLocated}
}

// initialized ends the init containers with success; sidecars end with the Pod.
func (l *life) initialized() {
	for i := range l.pod.Status.InitContainerStatuses {
		s := &l.pod.Status.InitContainerStatuses[i]
		s.State.Terminated, s.Ready = Terminated(0, ReasonCompleted), !isSidecar(&l.pod.Spec.InitContainers[i])
	}
}

// exits ends the first container with a code, and the others with 0.
func (l *life) exits(code int32, reason string) {
	l.initialized()
	for i := range l.pod.Status.ContainerStatuses {
		l.pod.Status.ContainerStatuses[i].State.Terminated = Terminated(0, ReasonCompleted)
	}
	l.first().State.Terminated = Terminated(code, reason)
	l.ended(corev1.PodFailed, "PodFailed")
}

// ended sets the phase and the conditions of an ended Pod.
func (l *life) ended(phase corev1.PodPhase, reason string) {
	l.pod.Status.Phase = phase
	l.condition(corev1.PodReadyToStartContainers, corev1.ConditionFalse, "", "")
	l.condition(corev1.PodReady, corev1.ConditionFalse, reason, "")
	l.condition(corev1.ContainersReady, corev1.ConditionFalse, reason, "")
	if phase == corev1.PodSucceeded {
		l.condition(corev1.PodInitialized, corev1.ConditionTrue, reason, "")
	}
}

// initFails ends an init container with a code, so that later containers never run.
func (l *life) initFails(failed int, code int32, reason string) {
	for i := range l.pod.Status.InitContainerStatuses {
		s := &l.pod.Status.InitContainerStatuses[i]
		switch {
		case i < failed:
			s.State.Terminated = Terminated(0, ReasonCompleted)
		case i == failed:
			s.State.Terminated = Terminated(code, reason)
		default:
			s.State = waitingFor(reasonInitializing, "")
		}
	}
	for i := range l.pod.Status.ContainerStatuses {
		l.pod.Status.ContainerStatuses[i].State = waitingFor(reasonInitializing, "")
	}
	l.ended(corev1.PodFailed, "PodFailed")
	l.uninitialized(l.pod.Spec.InitContainers[failed].Name)
}

// uninitialized sets the condition that init containers have not completed.
func (l *life) uninitialized(containers ...string) {
	l.condition(corev1.PodInitialized, corev1.ConditionFalse, "ContainersNotInitialized",
		fmt.Sprintf("containers with incomplete status: %s", containers))
}

// firstInit returns the index of the first init container that is no sidecar. It adds one if there is none.
func (l *life) firstInit() int {
	for i := range l.pod.Spec.InitContainers {
		if !isSidecar(&l.pod.Spec.InitContainers[i]) {
			return i
		}
	}
	l.addInit(corev1.Container{Name: "init", Image: "example.com/init"})
	return len(l.pod.Spec.InitContainers) - 1
}

// second adds a second container if there is none.
func (l *life) second() {
	if len(l.pod.Spec.Containers) == 1 {
		c := corev1.Container{Name: "helper", Image: "example.com/helper"}
		l.pod.Spec.Containers = append(l.pod.Spec.Containers, c)
		l.pod.Status.ContainerStatuses = append(l.pod.Status.ContainerStatuses, statusesOf([]corev1.Container{c})...)
	}
}

func (l *life) endSidecars() {
	for i := range l.pod.Spec.InitContainers {
		if s := &l.pod.Status.InitContainerStatuses[i]; isSidecar(&l.pod.Spec.InitContainers[i]) {
			s.State, s.Ready, s.Started = corev1.ContainerState{Terminated: Terminated(0, ReasonCompleted)}, false, new(false)
		}
	}
}

func (l *life) addInit(c corev1.Container) {
	l.pod.Spec.InitContainers = append(l.pod.Spec.InitContainers, c)
	l.pod.Status.InitContainerStatuses = append(l.pod.Status.InitContainerStatuses, statusesOf([]corev1.Container{c})...)
}

func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// sidecar adds a sidecar if there is none.
func (l *life) sidecar() {
	if l.sidecarStatus() == nil {
		l.addInit(corev1.Container{
			Name: "sidecar", Image: "example.com/sidecar", RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
		})
	}
}

func (l *life) sidecarStatus() *corev1.ContainerStatus {
	for i := range l.pod.Spec.InitContainers {
		if isSidecar(&l.pod.Spec.InitContainers[i]) {
			return &l.pod.Status.InitContainerStatuses[i]
		}
	}
	return nil
}

func (l *life) runs() {
	l.initialized()
	l.pod.Status.Phase = corev1.PodRunning
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(started)}}
	start := func(s *corev1.ContainerStatus) { s.State, s.Ready, s.Started = running, true, new(true) }
	for i := range l.pod.Spec.InitContainers {
		if isSidecar(&l.pod.Spec.InitContainers[i]) {
			start(&l.pod.Status.InitContainerStatuses[i])
		}
	}
	for i := range l.pod.Status.ContainerStatuses {
		start(&l.pod.Status.ContainerStatuses[i])
	}
}

func (l *life) status(reason, message string) {
	l.pod.Status.Reason, l.pod.Status.Message = reason, message
}

func (l *life) condition(t corev1.PodConditionType, status corev1.ConditionStatus, reason, message string) {
	set := corev1.PodCondition{Type: t, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(ended)}
	for i := range l.pod.Status.Conditions {
		if l.pod.Status.Conditions[i].Type == t {
			l.pod.Status.Conditions[i] = set
			return
		}
	}
	l.pod.Status.Conditions = append(l.pod.Status.Conditions, set)
}
