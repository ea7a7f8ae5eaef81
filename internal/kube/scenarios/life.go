package scenarios

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
	"github.com/podverdict/podverdict/internal/kube/restart"
)

// Times in every Pod: its creation, the start of its containers, and their end.
var (
	created = metav1.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	started = metav1.NewTime(created.Add(5 * time.Second))
	ended   = metav1.NewTime(created.Add(65 * time.Second))
)

// life changes a Pod and its node step by step, as Kubernetes would.
type life struct {
	pod  *corev1.Pod
	node *corev1.Node // nil if the node no longer exists
}

// newLife returns a Pod on a node, as the Job controller creates it.
func newLife(job *batchv1.Job) *life {
	template := job.Spec.Template.DeepCopy()
	if len(template.Spec.Containers) == 0 { // an incomplete Job, such as one for kustomize
		template.Spec.Containers = PlainJob().Spec.Template.Spec.Containers
	}
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: cmp.Or(job.Name, strings.TrimSuffix(job.GenerateName, "-")) + "-pod",
			Labels: template.Labels, Annotations: template.Annotations, CreationTimestamp: created,
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
	podstatus.Create(pod, created)
	return l
}

// containers returns the containers of the Pod that are not init containers or sidecars.
func (l *life) containers() []podstatus.Container {
	return podstatus.Containers(l.pod)[len(l.pod.Spec.InitContainers):]
}

func (l *life) first() podstatus.Container { return l.containers()[0] }

// Exited returns the state of a container that has ended with a code.
func Exited(code int32) corev1.ContainerState { return podstatus.Exited(code, "", started, ended) }

// Settle writes the status of a Pod whose containers have just exited.
func Settle(pod *corev1.Pod, g restart.Gates) { podstatus.Settle(pod, g, ended) }

func (l *life) runs() { podstatus.Start(l.pod, started) }

// exits ends the first container with a code, and the others with 0.
func (l *life) exits(code int32, reason string) { l.exit(l.first().Name, code, reason) }

// exit ends a container with a code. The others end with 0, but the containers after an init container never run.
func (l *life) exit(name string, code int32, reason string) {
	podstatus.StartInit(l.pod, name, started)
	l.find(name).Exit(code, reason, ended)
	podstatus.Stop(l.pod, 0, ended)
	podstatus.End(l.pod, ended)
}

// find returns the named container.
func (l *life) find(name string) podstatus.Container {
	all := podstatus.Containers(l.pod)
	return all[slices.IndexFunc(all, func(c podstatus.Container) bool { return c.Name == name })]
}

// interrupted ends the Pod for a cause; its first container exits with a code.
func (l *life) interrupted(code int32, cause podstatus.Cause) {
	cause.Write(l.pod, ended)
	l.exits(code, "")
}

// initContainer returns the name of the first init container that is not a sidecar. It adds one if there is none.
func (l *life) initContainer() string {
	for _, c := range podstatus.Containers(l.pod) {
		if c.Init {
			return c.Name
		}
	}
	return l.add(&l.pod.Spec.InitContainers, corev1.Container{Name: "init", Image: "example.com/init"})
}

// second returns the name of the second container. It adds one if there is none.
func (l *life) second() string {
	if len(l.pod.Spec.Containers) > 1 {
		return l.pod.Spec.Containers[1].Name
	}
	return l.add(&l.pod.Spec.Containers, corev1.Container{Name: "helper", Image: "example.com/helper"})
}

// sidecar returns the name of the first sidecar. It adds one if there is none.
func (l *life) sidecar() string {
	for _, c := range podstatus.Containers(l.pod) {
		if c.Sidecar {
			return c.Name
		}
	}
	return l.add(&l.pod.Spec.InitContainers, corev1.Container{
		Name: "sidecar", Image: "example.com/sidecar", RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
	})
}

// add adds a container to the Pod, which has not started, and returns the container's name.
func (l *life) add(containers *[]corev1.Container, c corev1.Container) string {
	*containers = append(*containers, c)
	l.pod.Status.Conditions = nil
	podstatus.Create(l.pod, created)
	return c.Name
}
