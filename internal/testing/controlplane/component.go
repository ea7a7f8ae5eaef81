package controlplane

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// A Component is a process of the control plane. Etcd and the API server always run; the others run if a test requests
// them.
type Component string

// The components known to Start. Each is healthy when Start returns.
const (
	// Etcd and APIServer run from the first Start on. Start restarts them after [Cluster.Kill]: they keep their address,
	// their data and their users.
	Etcd      Component = "etcd"
	APIServer Component = "kube-apiserver"
	// ControllerManager runs all controllers that are on by default, each with its own service account. There are no
	// nodes for pods, so a test acts as the kubelet.
	ControllerManager Component = "kube-controller-manager"
	// Scheduler binds pods to the nodes created by a test.
	Scheduler Component = "kube-scheduler"
	// Kwok acts as the kubelets of the nodes with the annotation [AnnotationNode]. It is the user kwok, in the group
	// system:masters.
	Kwok Component = "kwok"
)

// With returns the component with more flags. They have no effect if the component is already running. The API server
// keeps the flags of the first Start.
func (c Component) With(flags ...string) Component {
	return Component(strings.Join(append([]string{string(c)}, flags...), " "))
}

// flagsOf returns the flags given to one of the components.
func flagsOf(one Component, components []Component) []string {
	for _, component := range components {
		if name, flags := component.split(); name == one {
			return flags
		}
	}
	return nil
}

// split returns the component and its flags.
func (c Component) split() (Component, []string) {
	words := strings.Fields(string(c))
	return Component(words[0]), words[1:]
}

// flags returns the flags of a component unknown to envtest that serves its health at the address.
func (c *Cluster) flags(component Component, address string) ([]string, error) {
	switch component {
	case ControllerManager:
		certificates := c.control.APIServer.CertDir
		ca := filepath.Join(certificates, "serving-ca.crt")
		flags, err := c.upstreamFlags(component, address)
		return append(flags,
			"--controllers=*",
			"--use-service-account-credentials",
			"--service-account-private-key-file="+filepath.Join(certificates, "sa-signer.key"), // envtest's name
			"--root-ca-file="+ca,
		), errors.Join(err, os.WriteFile(ca, c.control.APIServer.CA, 0o600))
	case Scheduler:
		return c.upstreamFlags(component, address)
	default:
		return c.kwokFlags(address)
	}
}

// upstreamFlags returns the flags shared by the components of Kubernetes. Each runs as the user to whom RBAC grants its
// permissions.
func (c *Cluster) upstreamFlags(component Component, address string) ([]string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	kubeconfig, err := c.writeKubeconfig("system:" + string(component))
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=" + host,
		"--secure-port=" + port,
		"--cert-dir=" + c.directory,
		"--leader-elect=false",
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
	}, err
}

// writeKubeconfig returns the path of a new kubeconfig for the user.
func (c *Cluster) writeKubeconfig(user string, groups ...string) (string, error) {
	content, err := kubeconfigOf(c.control, user, groups...)
	if err != nil {
		return "", err
	}
	kubeconfig := filepath.Join(c.directory, user+".kubeconfig")
	return kubeconfig, os.WriteFile(kubeconfig, content, 0o600)
}
