package controlplane

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// A Cluster is a running control plane, without nodes.
type Cluster struct {
	// Config is of the user admin in the group system:masters, with no limit of requests.
	// Copy it to change it.
	Config *rest.Config
	// Version is the API server's own, as in v1.37.2.
	Version string

	supervisor *supervisor
	client     *kubernetes.Clientset
	assets     string // the folder of binaries
	directory  string // of the control plane's files
}

// newCluster boots what is in the folder of binaries.
func newCluster(supervisor *supervisor, assets string) (*Cluster, error) {
	directory, err := supervisor.boot(assets)
	if err != nil {
		return nil, err
	}
	admin, err := supervisor.user("admin", "system:masters")
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(admin)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		return nil, err
	}
	return &Cluster{
		Config: config, Version: version.GitVersion,
		supervisor: supervisor, client: client, assets: assets, directory: directory,
	}, nil
}

// Kubeconfig returns the path of a file with which clients are the user, by a
// certificate, in the namespace default. RBAC gives a user nothing at first, unless a
// group is system:masters. The file is the test's.
func (c *Cluster) Kubeconfig(t testing.TB, user string, groups ...string) string {
	t.Helper()
	content, err := c.supervisor.user(user, groups...)
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

// Kubectl returns the path of kubectl, of the control plane's version.
func (c *Cluster) Kubectl(t testing.TB) string {
	t.Helper()
	path := filepath.Join(c.assets, "kubectl")
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Namespace returns the name of a new namespace, and deletes it at the end of the test
// without waiting: what is in it goes when there is a controller manager.
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
