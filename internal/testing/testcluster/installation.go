package testcluster

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/config"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

const (
	// Namespace is where the controller is installed.
	Namespace = "podverdict-system"
	// Name is that of its Deployment, service account, roles, lease and program.
	Name = "podverdict-controller"
)

// Installation is the controller's objects in a cluster, and its program.
type Installation struct {
	cluster *controlplane.Cluster
	client  *kubernetes.Clientset
	program string
}

// Apply applies the objects of the installation, and builds the program.
func Apply(t testing.TB, cluster *controlplane.Cluster, options config.Options) *Installation {
	t.Helper()
	client, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := config.Objects(options)
	if err != nil {
		t.Fatal(err)
	}
	var manifests bytes.Buffer
	for _, object := range objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		manifests.WriteString("---\n")
		manifests.Write(text)
	}
	i := &Installation{cluster: cluster, client: client, program: filepath.Join(t.TempDir(), Name)}
	i.Kubectl(t, manifests.Bytes(), "apply", "-f", "-")
	//nolint:gosec // the program of this repository
	build := exec.CommandContext(t.Context(), "go", "build", "-o", i.program, "github.com/podverdict/podverdict/cmd/podverdict-controller")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return i
}

// Kubectl runs kubectl as an administrator.
func (i *Installation) Kubectl(t testing.TB, stdin []byte, arguments ...string) {
	t.Helper()
	Kubectl(t, i.cluster, stdin, arguments...)
}

// Kubectl runs kubectl as an administrator of a cluster, and returns what it prints. The test fails if it warns.
func Kubectl(t testing.TB, cluster *controlplane.Cluster, stdin []byte, arguments ...string) string {
	t.Helper()
	arguments = append(arguments, "--kubeconfig", cluster.Kubeconfig(t, "admin", "system:masters"))
	command := exec.CommandContext(t.Context(), cluster.Kubectl(t), arguments...) //nolint:gosec // the test's
	var stderr bytes.Buffer
	command.Stdin, command.Stderr = bytes.NewReader(stdin), &stderr
	out, err := command.Output()
	if err != nil || bytes.Contains(stderr.Bytes(), []byte("Warning")) {
		t.Fatalf("%s: %v\n%s%s", command, err, out, &stderr)
	}
	return string(out)
}

// Kubeconfig returns the path of a file with a token of the controller's service account.
func (i *Installation) Kubeconfig(t testing.TB) string {
	t.Helper()
	return AccountKubeconfig(t, i.cluster, Namespace, Name)
}

// AccountKubeconfig returns the path of a file with a token of a service account.
func AccountKubeconfig(t testing.TB, cluster *controlplane.Cluster, namespace, name string) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	account := client.CoreV1().ServiceAccounts(namespace)
	token, err := account.CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := clientcmdapi.NewConfig()
	c.Clusters["it"] = &clientcmdapi.Cluster{Server: cluster.Config.Host, CertificateAuthorityData: cluster.Config.CAData}
	c.AuthInfos["it"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	c.Contexts["it"] = &clientcmdapi.Context{Cluster: "it", AuthInfo: "it"}
	c.CurrentContext = "it"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		t.Fatal(err)
	}
	return file
}
