package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// A Cluster is a running control plane, without nodes.
type Cluster struct {
	// Config is the configuration of the user admin in the group system:masters, without a rate limit. Copy it to change
	// it.
	Config *rest.Config
	// Version is the version reported by the API server, such as v1.37.2.
	Version string

	client      *kubernetes.Clientset
	assets      string   // folder of the binaries
	directory   string   // folder of the control plane's files
	serverFlags []string // additional flags of the API server
	janitor     *janitor

	mu      sync.Mutex // protects the fields below, and the processes
	control *envtest.ControlPlane
}

func newCluster(serverFlags []string) (*Cluster, error) {
	assets, err := findAssets()
	if err != nil {
		return nil, err
	}
	c := &Cluster{assets: assets, serverFlags: serverFlags}
	if c.directory, err = os.MkdirTemp("", "podverdict-control-plane-"); err != nil {
		return nil, err
	}
	if c.janitor, err = newJanitor(c.directory); err != nil {
		return nil, err
	}
	if err := c.boot(); err != nil {
		_ = c.janitor.dismiss() // err has the cause
		return nil, fmt.Errorf("the control plane that make control-plane builds: %w", err)
	}
	return c, nil
}

// Kubeconfig returns the path of a kubeconfig for the user, with a certificate, in the namespace default. RBAC grants a
// user nothing by default, unless a group is system:masters. The file is removed with the test.
func (c *Cluster) Kubeconfig(t testing.TB, user string, groups ...string) string {
	t.Helper()
	content, err := c.kubeconfig(user, groups...)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.Load(content)
	if err != nil {
		t.Fatal(err)
	}
	for _, context := range config.Contexts {
		context.Namespace = metav1.NamespaceDefault
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// kubeconfig returns a kubeconfig with a certificate for the user.
func (c *Cluster) kubeconfig(user string, groups ...string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return kubeconfigOf(c.control, user, groups...)
}

func kubeconfigOf(control *envtest.ControlPlane, user string, groups ...string) ([]byte, error) {
	known, err := control.AddUser(envtest.User{Name: user, Groups: groups}, nil)
	if err != nil {
		return nil, err
	}
	return known.KubeConfig()
}

// Kubectl returns the path of kubectl, in the control plane's version.
func (c *Cluster) Kubectl(t testing.TB) string {
	t.Helper()
	path := filepath.Join(c.assets, "kubectl")
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Namespace returns the name of a new namespace, and deletes it at the end of the test without waiting: its contents are
// deleted if a controller manager runs.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	namespaces := c.client.CoreV1().Namespaces()
	made, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := namespaces.Delete(context.Background(), made.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
	return made.Name
}
