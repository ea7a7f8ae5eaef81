package controlplane

import (
	"errors"
	"os"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
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

// core reports whether a component is one without which there is no control plane.
func (c Component) core() bool { return c == Etcd || c == APIServer }

// flags returns the flags of the component, but for its port.
func (p *plane) flags(component Component) ([]string, error) {
	switch component {
	case ControllerManager:
		certificates := p.control.APIServer.CertDir
		ca := filepath.Join(certificates, "serving-ca.crt")
		flags, err := p.upstreamFlags("system:kube-controller-manager")
		return append(flags,
			"--controllers=*",
			"--use-service-account-credentials",
			"--service-account-private-key-file="+filepath.Join(certificates, "sa-signer.key"), // envtest's name
			"--root-ca-file="+ca,
		), errors.Join(err, os.WriteFile(ca, p.control.APIServer.CA, 0o600))
	case Scheduler:
		return p.upstreamFlags("system:kube-scheduler")
	case Kwok:
		return p.kwokFlags()
	default:
		return nil, errUnknown(component)
	}
}

// upstreamFlags returns the flags that the components of Kubernetes share. Each is the user whom
// RBAC gives what it needs.
func (p *plane) upstreamFlags(user string) ([]string, error) {
	kubeconfig, err := p.writeKubeconfig(envtest.User{Name: user})
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--cert-dir=" + p.directory,
		"--leader-elect=false",
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
	}, err
}

// writeKubeconfig returns the path of a file with which clients are the user.
func (p *plane) writeKubeconfig(user envtest.User) (string, error) {
	known, err := p.control.AddUser(user, nil)
	if err != nil {
		return "", err
	}
	content, err := known.KubeConfig()
	if err != nil {
		return "", err
	}
	kubeconfig := filepath.Join(p.control.APIServer.CertDir, user.Name+".kubeconfig")
	return kubeconfig, os.WriteFile(kubeconfig, content, 0o600)
}
