//go:build !js

package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kubeconfig returns the names of contexts, clusters and users that a shell can complete. What cannot be read has none.
func (o *Options) Kubeconfig() (contexts, clusters, users []string) {
	config, err := o.load("")
	if err != nil {
		return nil, nil, nil
	}
	raw, err := config.RawConfig()
	if err != nil {
		return nil, nil, nil
	}
	return keys(raw.Contexts), keys(raw.Clusters), keys(raw.AuthInfos)
}

// Names returns the names of a kind's objects for a shell to complete: those on the first page. What cannot be read has none.
func (c *Cluster) Names(ctx context.Context, kind Kind) []string { return c.names(ctx, kind) }

// Namespaces returns the names of namespaces for a shell to complete: those on the first page. What cannot be read has none.
func (c *Cluster) Namespaces(ctx context.Context) []string {
	return namesIn(List[corev1.NamespaceList](c.core, "namespaces", metav1.NamespaceAll)(ctx, metav1.ListOptions{Limit: pageSize}))
}
