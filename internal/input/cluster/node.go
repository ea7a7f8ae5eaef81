//go:build !js

package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxNodes is the maximum number of nodes to read; each needs a request.
const maxNodes = 500

// Nodes reads the named nodes, and ignores nodes that do not exist. If they cannot be read for a reason that is not an error,
// unread is that reason.
func (c *Cluster) Nodes(ctx context.Context, names []string) (found map[string]*corev1.Node, unread string, err error) {
	if len(names) > maxNodes {
		return nil, fmt.Sprintf("the Pods are on %d nodes, and at most %d are asked for", len(names), maxNodes), nil
	}
	found = map[string]*corev1.Node{}
	get := request{"get", "nodes", metav1.NamespaceAll}
	for _, name := range names {
		node, err := Get[corev1.Node](ctx, c.core, get.resource, metav1.NamespaceAll, name)
		switch {
		case apierrors.IsForbidden(err):
			return nil, "they may not be read\nsee " + c.canI(get), nil
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, "", c.failure(err, get)
		default:
			found[name] = node
		}
	}
	return found, "", nil
}
