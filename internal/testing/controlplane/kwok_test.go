//go:build cluster

package controlplane_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

// ending is what a pod's end looks like.
type ending struct {
	Phase      corev1.PodPhase
	Reason     string // of the pod
	ExitCode   int32
	Terminated string // the reason of the container
	Disrupted  string // the reason of the condition DisruptionTarget
	Ready      corev1.ConditionStatus
	Deleted    bool
}

// Each pod runs, ends as it is told, and is gone when it has been deleted and nobody holds
// it.
func TestKwokPlaysTheKubelet(t *testing.T) {
	cluster := controlplane.Start(t, controlplane.Kwok)
	client, namespace := clientOf(t, cluster), cluster.Namespace(t)
	createNode(t, client, "kwok-plays")
	for _, c := range []struct {
		name       string
		born, told map[string]string // annotations
		deleted    bool
		want       ending
	}{
		{
			name: "succeeds", told: map[string]string{controlplane.AnnotationExitCode: "0"},
			want: ending{Phase: corev1.PodSucceeded, Terminated: "Completed", Ready: corev1.ConditionFalse},
		},
		{
			name: "fails", told: map[string]string{controlplane.AnnotationExitCode: "42"},
			want: ending{Phase: corev1.PodFailed, ExitCode: 42, Terminated: "Error", Ready: corev1.ConditionFalse},
		},
		{
			name: "is-deleted", deleted: true,
			want: ending{Phase: corev1.PodFailed, ExitCode: 143, Terminated: "Error", Ready: corev1.ConditionFalse, Deleted: true},
		},
		{
			name: "is-deleted-and-exits", deleted: true, born: map[string]string{controlplane.AnnotationTerminatedExitCode: "7"},
			want: ending{Phase: corev1.PodFailed, ExitCode: 7, Terminated: "Error", Ready: corev1.ConditionFalse, Deleted: true},
		},
		{
			name: "is-deleted-and-succeeds", deleted: true, born: map[string]string{controlplane.AnnotationTerminatedExitCode: "0"},
			want: ending{Phase: corev1.PodSucceeded, Terminated: "Completed", Ready: corev1.ConditionFalse, Deleted: true},
		},
		{
			name: "is-evicted", told: map[string]string{controlplane.AnnotationEvict: "The node was low on resource: memory. "},
			want: ending{Phase: corev1.PodFailed, Reason: "Evicted", ExitCode: 137, Terminated: "Error", Disrupted: corev1.PodReasonTerminationByKubelet, Ready: corev1.ConditionFalse},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			pods := client.CoreV1().Pods(namespace)
			createPod(t, client, namespace, c.name, c.born)
			running := waitForPhase(t, client, namespace, c.name, corev1.PodRunning)
			if len(running.Status.ContainerStatuses) != 1 || running.Status.ContainerStatuses[0].State.Running == nil || !running.Status.ContainerStatuses[0].Ready {
				t.Fatalf("it runs with %+v", running.Status.ContainerStatuses)
			}
			if c.told != nil {
				annotate(t, client, namespace, c.name, c.told)
			}
			if c.deleted {
				if err := pods.Delete(t.Context(), c.name, metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			ended := waitForPhase(t, client, namespace, c.name, c.want.Phase)
			if diff := cmp.Diff(c.want, endingOf(ended)); diff != "" {
				t.Errorf("its end (-want +got):\n%s", diff)
			}
			goes(t, client, namespace, c.name)
		})
	}
}

// createNode makes a node of kwok's, and waits until its heartbeats come, without which Kubernetes would take it for dead.
func createNode(t *testing.T, client *kubernetes.Clientset, name string) {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{controlplane.AnnotationNode: "fake"}}}
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("10")}
	if _, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{}) })
	eventually(t, func() bool {
		node, err := client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || node.Status.Allocatable.Pods().Value() != 10 {
			t.Fatalf("%v, room for %v pods", err, node.Status.Allocatable.Pods())
		}
		return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue && c.LastHeartbeatTime.After(c.LastTransitionTime.Time)
		})
	})
}

// createPod makes a pod on the node that is held by a finalizer.
func createPod(t *testing.T, client *kubernetes.Clientset, namespace, name string, annotations map[string]string) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: maps.Clone(annotations), Finalizers: []string{"podverdict.io/held"}}}
	pod.Spec = corev1.PodSpec{
		NodeName: "kwok-plays", RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "main", Image: "image"}},
	}
	if _, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func annotate(t *testing.T, client *kubernetes.Clientset, namespace, name string, annotations map[string]string) {
	t.Helper()
	for key, value := range annotations {
		patch := []byte(`{"metadata":{"annotations":{"` + key + `":"` + value + `"}}}`)
		if _, err := client.CoreV1().Pods(namespace).Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func waitForPhase(t *testing.T, client *kubernetes.Clientset, namespace, name string, phase corev1.PodPhase) (pod *corev1.Pod) {
	t.Helper()
	eventually(t, func() bool {
		var err error
		if pod, err = client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		return pod.Status.Phase == phase
	})
	return pod
}

// goes lets go of the pod, and waits until it is gone if it has been deleted.
func goes(t *testing.T, client *kubernetes.Clientset, namespace, name string) {
	t.Helper()
	pods := client.CoreV1().Pods(namespace)
	deleted, err := pods.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if deleted.DeletionTimestamp == nil {
		return
	}
	eventually(t, func() bool {
		_, err := pods.Get(t.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func endingOf(pod *corev1.Pod) ending {
	e := ending{Phase: pod.Status.Phase, Reason: pod.Status.Reason, Deleted: pod.DeletionTimestamp != nil}
	for _, status := range pod.Status.ContainerStatuses {
		if status.State.Terminated != nil {
			e.ExitCode, e.Terminated = status.State.Terminated.ExitCode, status.State.Terminated.Reason
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			e.Ready = condition.Status
		}
		if condition.Type == corev1.DisruptionTarget {
			e.Disrupted = condition.Reason
		}
	}
	return e
}
