package simulation

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
)

// wait writes the status of a pod whose first container waits. The kubelet starts the other containers unless the reason
// is that the pod itself is not ready for them.
func wait(p *corev1.Pod, reason string, now metav1.Time) {
	if reason == podstatus.ReasonCreating || reason == podstatus.ReasonInitializing {
		podstatus.Create(p, now)
		return
	}
	podstatus.Wait(p, reason, podstatus.ImageMessage(reason, p.Spec.Containers[0].Image), now)
}

// exit ends the running containers. Sidecars continue, unless the outcome has an exit code for them.
func (o outcome) exit(p *corev1.Pod, now metav1.Time) {
	for _, c := range podstatus.Containers(p) {
		if !c.Sidecar || o.codes[c.Name] != 0 {
			o.exitContainer(c, now)
		}
	}
}

// end writes the final status of a pod.
func (o outcome) end(p *corev1.Pod, now metav1.Time) {
	if o.collected {
		p.Status.Phase = corev1.PodFailed
		return
	}
	for _, c := range podstatus.Containers(p) {
		o.exitContainer(c, now)
	}
	switch {
	case o.evicted():
		podstatus.LowOn(corev1.ResourceMemory, "100Mi", "92Mi").Write(p, now)
	case o.condition != "":
		podstatus.SetCondition(p, corev1.PodCondition{Type: o.condition, Status: corev1.ConditionTrue}, now)
	}
	podstatus.End(p, now)
}

// exitContainer ends a running container.
func (o outcome) exitContainer(c podstatus.Container, now metav1.Time) {
	if c.Status.State.Running == nil {
		return
	}
	reason := ""
	if c.Name == o.oom {
		reason = podstatus.ReasonOOMKilled
	}
	c.Exit(o.codes[c.Name], reason, now)
}
