package controlplane

import (
	_ "embed"
	"errors"
	"os"
	"path/filepath"
)

// These annotations tell [Kwok] what to do. It does at once what they say.
const (
	// AnnotationNode, with the value fake, makes a node one of its own: ready as long as it
	// exists, with the allocatable resources that it was created with. A pod that is bound
	// to it runs until it is deleted or told to end. Kwok's own tools know it.
	AnnotationNode = "kwok.x-k8s.io/node"
	// AnnotationExitCode ends the containers of a running pod with this code, and with it
	// the pod.
	AnnotationExitCode = "kwok.podverdict.io/exit-code"
	// AnnotationTerminatedExitCode is the code with which the containers end when the pod
	// is deleted. Without it, it is 143: SIGTERM kills them.
	AnnotationTerminatedExitCode = "kwok.podverdict.io/terminated-exit-code"
	// AnnotationEvict makes a running pod one that the kubelet has evicted because of
	// node pressure, with this message.
	AnnotationEvict = "kwok.podverdict.io/evict"
)

// kwokStages are the states of a node and of a pod.
//
//go:embed kwok.yaml
var kwokStages []byte

// kwokFlags have it serve its health, and the API of its kubelets, at the address.
func (c *Cluster) kwokFlags(address string) ([]string, error) {
	kubeconfig, err := c.writeKubeconfig(string(Kwok), "system:masters")
	stages := filepath.Join(c.directory, "kwok.yaml")
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--config=" + stages,
		"--manage-nodes-with-annotation-selector=" + AnnotationNode + "=fake",
		"--server-address=" + address,
	}, errors.Join(err, os.WriteFile(stages, kwokStages, 0o600))
}
