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
	// Namespace is the namespace in which the controller is installed.
	Namespace = "podverdict-system"
	// Name is the name of its Deployment, service account, roles, lease and program.
	Name = "podverdict-controller"
)

// Installation has the controller's objects in a world, and its program.
type Installation struct {
	*World

	// Programs is the folder of the program.
	Programs string
}

// Apply applies the objects of the installation, and builds the program.
func Apply(t testing.TB, world *World, options config.Options) *Installation {
	t.Helper()
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
	world.Kubectl(t, manifests.Bytes(), "apply", "-f", "-")
	return &Installation{World: world, Programs: Build(t, Name)}
}

// Kubectl runs kubectl as an administrator of a cluster, and returns its output. The test fails on a warning.
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

// Kubeconfig returns the path of a kubeconfig with a token of the controller's service account.
func (i *Installation) Kubeconfig(t testing.TB) string {
	t.Helper()
	return AccountKubeconfig(t, i.Cluster, Namespace, Name)
}

// AccountKubeconfig returns the path of a kubeconfig with a token of a service account.
func AccountKubeconfig(t testing.TB, cluster *controlplane.Cluster, namespace, name string) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return WriteKubeconfig(t, cluster.Config.Host, cluster.Config.CAData, token.Status.Token)
}

// WriteKubeconfig returns the path of a new kubeconfig for a server. The certificate authority and the token may be
// empty.
func WriteKubeconfig(t testing.TB, server string, authority []byte, token string) string {
	t.Helper()
	c := clientcmdapi.NewConfig()
	c.Clusters["it"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: authority}
	c.AuthInfos["it"] = &clientcmdapi.AuthInfo{Token: token}
	c.Contexts["it"] = &clientcmdapi.Context{Cluster: "it", AuthInfo: "it"}
	c.CurrentContext = "it"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		t.Fatal(err)
	}
	return file
}
