package controlplane

import (
	_ "embed"
	"errors"
	"os"
	"path/filepath"
)

// Annotations that control [Kwok]. It reacts immediately.
const (
	// AnnotationNode, with the value fake, makes Kwok manage a node: the node is ready while it exists, with the
	// allocatable resources that it was created with. A pod bound to it runs until it is deleted or ended. Kwok's own
	// tools use the annotation, too.
	AnnotationNode = "kwok.x-k8s.io/node"
	// AnnotationExitCode ends the containers of a running pod with this code, and thereby the pod.
	AnnotationExitCode = "kwok.podverdict.io/exit-code"
	// AnnotationTerminatedExitCode is the exit code of the containers when the pod is deleted. The default is 143:
	// SIGTERM kills them.
	AnnotationTerminatedExitCode = "kwok.podverdict.io/terminated-exit-code"
	// AnnotationEvict makes a running pod look as if the kubelet had evicted it because of node pressure, with this
	// message.
	AnnotationEvict = "kwok.podverdict.io/evict"
)

// kwokStages has the states of a node and of a pod.
//
//go:embed kwok.yaml
var kwokStages []byte

// kwokFlags returns flags with which kwok serves its health, and the API of its kubelets, at the address.
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
