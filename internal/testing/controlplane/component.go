package controlplane

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// A Component is a process of the control plane. Etcd and the API server always run; the others run when a test asks for them.
type Component string

// The components that Start knows. Each is healthy when Start returns.
const (
	// Etcd and APIServer run from the first Start on. Start is for those that [Cluster.Kill] has ended: they keep their
	// address, their data and their users.
	Etcd      Component = "etcd"
	APIServer Component = "kube-apiserver"
	// ControllerManager runs all controllers that are on by default, each as its own
	// service account. There are no nodes for pods, so a test plays the kubelet.
	ControllerManager Component = "kube-controller-manager"
	// Scheduler binds pods to the nodes that a test makes.
	Scheduler Component = "kube-scheduler"
	// Kwok plays the kubelets of the nodes that have the annotation [AnnotationNode]. It is
	// the user kwok, in the group system:masters.
	Kwok Component = "kwok"
)

// With returns the component with more flags. They have an effect if the component does not run yet. The API server keeps those of the
// first Start.
func (c Component) With(flags ...string) Component {
	return Component(strings.Join(append([]string{string(c)}, flags...), " "))
}

// flagsOf returns the flags that components give to one of them.
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

// flags returns the flags of a component that envtest does not know, which is to serve its health at the address.
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

// upstreamFlags returns the flags that the components of Kubernetes share. Each is the user whom
// RBAC gives what it needs.
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

// writeKubeconfig returns the path of a file with which clients are the user.
func (c *Cluster) writeKubeconfig(user string, groups ...string) (string, error) {
	content, err := kubeconfigOf(c.control, user, groups...)
	if err != nil {
		return "", err
	}
	kubeconfig := filepath.Join(c.directory, user+".kubeconfig")
	return kubeconfig, os.WriteFile(kubeconfig, content, 0o600)
}
