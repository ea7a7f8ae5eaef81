package scenarios

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/jobdefaults"
)

// Scenario is something that happens to a Pod.
type Scenario struct {
	Name string
	// Phase is the phase of its Pod.
	Phase corev1.PodPhase
	// Means says what has happened.
	Means string

	happen func(*life)
}

// All are the scenarios. Their Pods are those that the kubelet, the scheduler and the controllers
// of Kubernetes 1.36 leave, reasons and messages included (pkg/kubelet/status, eviction, nodeshutdown, lifecycle and
// active_deadline.go, pkg/scheduler/framework/preemption, pkg/registry/core/pod/storage/eviction.go, pkg/controller/podgc and
// tainteviction).
var All = []Scenario{
	{"failed", corev1.PodFailed, "The first container exited with code 1, the others completed.", func(l *life) {
		l.exits(1, ReasonError)
	}},
	{"oom-killed", corev1.PodFailed, "The first container was killed for its memory limit: code 137, reason OOMKilled.", func(l *life) {
		l.exits(137, "OOMKilled")
	}},
	{"killed", corev1.PodFailed, "The first container was killed by SIGKILL, but not for its memory: code 137.", func(l *life) {
		l.exits(137, ReasonError)
	}},
	{"terminated", corev1.PodFailed, "The first container ended by SIGTERM: code 143.", func(l *life) {
		l.exits(143, ReasonError)
	}},
	{"start-error", corev1.PodFailed, "The first container could not be started: code 128, reason StartError.", func(l *life) {
		l.exits(128, "StartError")
		l.first().State.Terminated.StartedAt.Reset()
		l.first().State.Terminated.Message = "failed to create containerd task: executable file not found in $PATH"
	}},
	{"init-container-failed", corev1.PodFailed, "The first init container, or one called init, exited with code 1; no other ran.", func(l *life) {
		l.initFails(1, ReasonError)
	}},
	{"sidecar-killed", corev1.PodFailed, "As failed, and a sidecar, one called sidecar if there is none, was killed with code 137.", func(l *life) {
		l.sidecar()
		l.exits(1, ReasonError)
		l.sidecarStatus().State.Terminated = Terminated(137, ReasonError)
	}},
	{"deadline-exceeded", corev1.PodFailed, "The Pod exceeded its activeDeadlineSeconds.", func(l *life) {
		l.exits(137, ReasonError)
		l.status("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")
	}},
	{"evicted", corev1.PodFailed, "The kubelet evicted the Pod because the node was low on memory.", func(l *life) {
		const message = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 92Mi. "
		l.exits(137, ReasonError)
		l.status("Evicted", message)
		l.disrupted(corev1.PodReasonTerminationByKubelet, message)
	}},
	{"evicted-over-limit", corev1.PodFailed, "The kubelet evicted the Pod for using more of an emptyDir than its limit: no disruption.", func(l *life) {
		l.exits(137, ReasonError)
		l.status("Evicted", `Usage of EmptyDir volume "scratch" exceeds the limit "1Gi". `)
	}},
	{"preempted", corev1.PodFailed, "The scheduler preempted the Pod.", func(l *life) {
		l.deleted(corev1.PodReasonPreemptionByScheduler, "default-scheduler: preempting to accommodate a higher priority pod")
	}},
	{"drained", corev1.PodFailed, "The Pod was evicted by the API, as kubectl drain does.", func(l *life) {
		l.deleted("EvictionByEvictionAPI", "Eviction API: evicting")
	}},
	{"tainted", corev1.PodFailed, "The Pod was deleted because of a NoExecute taint of its node.", func(l *life) {
		l.deleted("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
	}},
	{"node-shutdown", corev1.PodFailed, "The node was shut down gracefully.", func(l *life) {
		const message = "Pod was terminated in response to imminent node shutdown."
		l.exits(143, ReasonError)
		l.status("Terminated", message)
		l.disrupted(corev1.PodReasonTerminationByKubelet, message)
	}},
	{"node-lost", corev1.PodFailed, "The node is gone, and the Pod was marked as failed: its containers still seem to run.", func(l *life) {
		l.runs()
		l.pod.Status.Phase = corev1.PodFailed
		l.condition(corev1.PodReady, corev1.ConditionFalse, "", "") // the node controller's doing
		l.disrupted("DeletionByPodGC", "PodGC: node no longer exists")
	}},
	{"rejected", corev1.PodFailed, "The kubelet did not admit the Pod: reason UnexpectedAdmissionError, and no container.", func(l *life) {
		l.pod.Status.ContainerStatuses, l.pod.Status.InitContainerStatuses = nil, nil
		l.pod.Status.Conditions = slices.DeleteFunc(l.pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type != corev1.PodScheduled
		})
		l.pod.Status.Phase = corev1.PodFailed
		l.status("UnexpectedAdmissionError", "Pod was rejected: Allocate failed due to no healthy devices present; "+
			"cannot allocate unhealthy devices example.com/device, which is unexpected")
	}},
	{"image-pull-backoff", corev1.PodPending, "The image of the first container cannot be pulled.", func(l *life) {
		l.waits("ImagePullBackOff", "Back-off pulling image \""+l.pod.Spec.Containers[0].Image+"\"")
	}},
	{"config-error", corev1.PodPending, "The first container needs a Secret that is not there.", func(l *life) {
		l.waits("CreateContainerConfigError", `secret "credentials" not found`)
	}},
	{"unschedulable", corev1.PodPending, "The scheduler finds no node for the Pod.", func(l *life) {
		l.unscheduled("0/3 nodes are available: 3 Insufficient cpu.")
	}},
	{"running", corev1.PodRunning, "All containers run: no verdict.", (*life).runs},
	{"succeeded", corev1.PodSucceeded, "All containers completed: no verdict.", func(l *life) {
		l.exits(0, ReasonCompleted)
		l.ended(corev1.PodSucceeded, "PodCompleted")
	}},
}

// Find returns the scenario of a name, or nil.
func Find(name string) *Scenario {
	for i := range All {
		if All[i].Name == name {
			return &All[i]
		}
	}
	return nil
}

// Names returns the names of all scenarios, in their order.
func Names() []string {
	names := make([]string, len(All))
	for i := range All {
		names[i] = All[i].Name
	}
	return names
}

// Pod returns the Pod of a Job to which the scenario has happened. The Job has the API's defaults.
func (s *Scenario) Pod(job *batchv1.Job) *corev1.Pod {
	l := newLife(job)
	s.happen(l)
	return l.pod
}

// PlainJob returns a Job with one container, as the API server stores it.
func PlainJob() *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "job"}}
	job.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: "main", Image: "example.com/main"}},
	}
	jobdefaults.Set(job)
	return job
}
