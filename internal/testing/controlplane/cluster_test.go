//go:build cluster

package controlplane_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

func TestStartsOnce(t *testing.T) {
	clusters := make([]*controlplane.Cluster, 4)
	var all sync.WaitGroup
	for i := range clusters {
		all.Go(func() { clusters[i] = controlplane.Start(t, controlplane.ControllerManager) })
	}
	all.Wait()
	for _, c := range clusters {
		if c == nil || c != clusters[0] {
			t.Fatalf("not all are the same: %v", clusters)
		}
	}
}

func TestKubectlIsTheUser(t *testing.T) {
	c := controlplane.Start(t)
	var versions struct {
		ServerVersion, ClientVersion struct{ GitVersion, Major, Minor string }
	}
	out := kubectl(t, c, c.Kubeconfig(t, "anyone"), "version", "-o", "json")
	if err := json.Unmarshal([]byte(out), &versions); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if c.Version == "" || versions.ServerVersion.GitVersion != c.Version || versions.ClientVersion != versions.ServerVersion {
		t.Errorf("kubectl version: %+v, want %q", versions, c.Version)
	}
	for _, user := range []struct {
		name   string
		groups []string
		want   string
	}{
		{name: "jane", want: `User "jane" cannot list resource "jobs" in API group "batch" in the namespace "default"`},
		{name: "john", groups: []string{"batch", "system:masters"}, want: "No resources found in default namespace."},
	} {
		if got := kubectl(t, c, c.Kubeconfig(t, user.name, user.groups...), "get", "jobs"); !strings.Contains(got, user.want) {
			t.Errorf("%s: kubectl get jobs: %s, want %s", user.name, got, user.want)
		}
	}
}

func kubectl(t *testing.T, c *controlplane.Cluster, kubeconfig string, args ...string) string {
	t.Helper()
	out, _ := exec.Command(c.Kubectl(t), append(args, "--kubeconfig="+kubeconfig)...).CombinedOutput()
	return string(out)
}

// TestAuditLog tests that dry runs and rejected writes are in the log, too.
func TestAuditLog(t *testing.T) {
	c := controlplane.Start(t)
	client, namespace := clientOf(t, c), c.Namespace(t)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "dry"}}
	if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Fatal(err)
	}
	if err := client.CoreV1().ConfigMaps(namespace).Delete(t.Context(), "nothing", metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	var written []string
	eventually(t, func() bool {
		written = nil
		for _, event := range c.AuditLog(t, namespace) {
			written = append(written, event.Verb+" "+event.ObjectRef.Name)
		}
		return slices.Contains(written, "create dry") && slices.Contains(written, "delete nothing")
	})
	if all := len(c.AuditLog(t, "")); all <= len(written) {
		t.Errorf("%d events in all namespaces", all)
	}
}

func clientOf(t *testing.T, c *controlplane.Cluster) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func eventually(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within a minute")
		}
	}
}
