//go:build cluster

package disruption

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// admin is the user that the tests act as.
const admin = "an-administrator"

// disruption is a way to lose pods that are not at fault.
type disruption struct {
	name   string
	reason string // reason of the condition DisruptionTarget
	by     writer // the component that sets it
	manner manner
	// strike disrupts the targets, and repair makes room for their replacements.
	strike, repair func(*trial, context.Context) error
}

// writer is a user and the subresource of the pod that it writes to.
type writer struct{ user, subresource string }

var disruptions = []disruption{
	{
		name: "preemption", reason: corev1.PodReasonPreemptionByScheduler, manner: terminated,
		by:     writer{"system:kube-scheduler", "status"},
		strike: (*trial).preempt, repair: (*trial).withdraw,
	},
	{
		name: "taint", reason: "DeletionByTaintManager", manner: terminated,
		by:     writer{"system:serviceaccount:kube-system:node-controller", "status"},
		strike: (*trial).taint, repair: (*trial).untaint,
	},
	{
		name: "drain", reason: "EvictionByEvictionAPI", manner: terminated,
		by:     writer{admin, "eviction"},
		strike: (*trial).drain, repair: (*trial).uncordon,
	},
	{
		name: "node-deletion", reason: "DeletionByPodGC", manner: lost,
		by:     writer{"system:serviceaccount:kube-system:pod-garbage-collector", "status"},
		strike: (*trial).deleteNodes, repair: (*trial).replaceNodes,
	},
	{
		name: "node-pressure", reason: corev1.PodReasonTerminationByKubelet, manner: killed,
		by:     writer{string(controlplane.Kwok), "status"},
		strike: (*trial).press, repair: func(*trial, context.Context) error { return nil },
	},
}

// preempt creates pods with higher priority that fit nowhere else.
func (r *trial) preempt(ctx context.Context) error {
	for _, node := range r.nodes() {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: node + "-preemptor"}, Spec: corev1.PodSpec{
			PriorityClassName: r.important,
			NodeSelector:      map[string]string{corev1.LabelHostname: node},
			Containers:        []corev1.Container{{Name: testcluster.Container, Image: "image"}},
		}}
		if _, err := r.Client.CoreV1().Pods(r.Namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (r *trial) withdraw(ctx context.Context) error {
	for _, node := range r.nodes() {
		if err := r.Client.CoreV1().Pods(r.Namespace).Delete(ctx, node+"-preemptor", metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (r *trial) taint(ctx context.Context) error {
	return r.run(ctx, append(append([]string{"taint", "node"}, r.nodes()...), "maintenance=now:NoExecute")...)
}

func (r *trial) untaint(ctx context.Context) error {
	return r.run(ctx, append(append([]string{"taint", "node"}, r.nodes()...), "maintenance-")...)
}

// drain returns once the pods are gone.
func (r *trial) drain(ctx context.Context) error {
	return r.run(ctx, append([]string{"drain"}, r.nodes()...)...)
}

func (r *trial) uncordon(ctx context.Context) error {
	return r.run(ctx, append([]string{"uncordon"}, r.nodes()...)...)
}

func (r *trial) deleteNodes(ctx context.Context) error {
	return r.run(ctx, append([]string{"delete", "node"}, r.nodes()...)...)
}

func (r *trial) replaceNodes(ctx context.Context) error {
	for _, node := range r.nodes() {
		if err := r.addNode(ctx, node+"-next", r.name); err != nil {
			return err
		}
	}
	return nil
}

// press makes kwok write the kubelet's eviction status.
func (r *trial) press(ctx context.Context) error {
	return r.annotate(ctx, r.targets, controlplane.AnnotationEvict, "The node was low on resource: memory. ")
}

// nodes returns the nodes of the targets.
func (r *trial) nodes() []string {
	var names []string
	for _, pod := range r.targets {
		names = append(names, pod.Spec.NodeName)
	}
	return names
}

func (r *trial) annotate(ctx context.Context, pods []*corev1.Pod, annotation, value string) error {
	patch := []byte(`{"metadata":{"annotations":{"` + annotation + `":"` + value + `"}}}`)
	for _, pod := range pods {
		_, err := r.Client.CoreV1().Pods(r.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return err
		}
	}
	return nil
}
