//go:build cluster

package controlplane_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

// TestKilled tests that a killed process comes back at its address, with its objects and users.
func TestKilled(t *testing.T) {
	c := controlplane.Start(t, controlplane.Scheduler)
	client, namespace := clientOf(t, c), c.Namespace(t)
	writeMap(t, client, namespace, "before")
	for _, component := range []controlplane.Component{controlplane.Etcd, controlplane.APIServer, controlplane.Scheduler} {
		if err := c.Kill(component); err != nil {
			t.Fatal(err)
		}
		if err := c.Kill(component); err == nil {
			t.Errorf("%s is killed twice", component)
		}
		if component != controlplane.Scheduler && answers(t, client, namespace) {
			t.Errorf("the API server answers without %s", component)
		}
		controlplane.Start(t, component)
		eventually(t, func() bool { return answers(t, client, namespace) })
	}
	writeMap(t, client, namespace, "after")
	for _, name := range []string{"before", "after"} {
		if _, err := client.CoreV1().ConfigMaps(namespace).Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	}
}

func TestPaused(t *testing.T) {
	c := controlplane.Start(t)
	client, namespace := clientOf(t, c), c.Namespace(t)
	for _, component := range []controlplane.Component{controlplane.Etcd, controlplane.APIServer} {
		if err := c.Pause(component); err != nil {
			t.Fatal(err)
		}
		if answers(t, client, namespace) {
			t.Errorf("the API server answers while %s is paused", component)
		}
		if err := c.Resume(component); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool { return answers(t, client, namespace) })
	}
}

// TestCompact tests that after a compaction no watch continues from before it.
func TestCompact(t *testing.T) {
	c := controlplane.Start(t)
	client, namespace := clientOf(t, c), c.Namespace(t)
	old := writeMap(t, client, namespace, "old").ResourceVersion
	writeMap(t, client, namespace, "new")
	if err := c.Compact(); err != nil {
		t.Fatal(err)
	}
	// A list of an exact version is read from etcd if the cache of the API server does not reach back to it.
	if err := c.Kill(controlplane.APIServer); err != nil {
		t.Fatal(err)
	}
	controlplane.Start(t, controlplane.APIServer)
	exactly := metav1.ListOptions{ResourceVersion: old, ResourceVersionMatch: metav1.ResourceVersionMatchExact}
	eventually(t, func() bool {
		_, err := client.CoreV1().ConfigMaps(namespace).List(t.Context(), exactly)
		return apierrors.IsResourceExpired(err)
	})
}

func TestUnknownsAreNotKilled(t *testing.T) {
	c := controlplane.Start(t)
	_ = c.Kill(controlplane.Kwok) // another test may have started it
	if err := c.Kill(controlplane.Kwok); err == nil || err.Error() != "kwok does not run" {
		t.Errorf("error %v", err)
	}
}

func writeMap(t *testing.T, client kubernetes.Interface, namespace, name string) *corev1.ConfigMap {
	t.Helper()
	made, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// answers reports whether a write in the namespace gets a response soon.
func answers(t *testing.T, client kubernetes.Interface, namespace string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	err := client.CoreV1().ConfigMaps(namespace).Delete(ctx, "nothing", metav1.DeleteOptions{})
	return apierrors.IsNotFound(err)
}
