package cluster

import (
	"context"
	"errors"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// errAbsent is returned in a web page, which has no kubeconfig and cannot reach an API server.
var errAbsent = errors.New("a page reads no cluster: give files")

// Options has no settings in a web page.
type Options struct{}

// AddFlags adds placeholders for the flags whose values other builds complete in a shell.
func (*Options) AddFlags(flags *pflag.FlagSet) {
	for _, name := range []string{"context", "cluster", "user"} {
		flags.String(name, "", "not in a page")
	}
}

// Connect always fails, so the methods of Cluster are never called.
func (*Options) Connect(string, string) (*Cluster, error) { return nil, errAbsent }

// Kubeconfig returns no names.
func (*Options) Kubeconfig() (contexts, clusters, users []string) { return nil, nil, nil }

// Cluster is a placeholder for the type that other builds read from.
type Cluster struct {
	Namespace string
	Progress  func(objects int)
}

// Jobs always fails.
func (*Cluster) Jobs(context.Context, Query) ([]manifest.Job, error) { return nil, errAbsent }

// JobsWithPods always fails.
func (*Cluster) JobsWithPods(context.Context, Query) (Found, error) { return Found{}, errAbsent }

// Policies always fails.
func (*Cluster) Policies(context.Context) (policies []manifest.Policy, bindings []manifest.Binding, unread string, err error) {
	return nil, nil, "", errAbsent
}

// NamespaceLabels always fails.
func (*Cluster) NamespaceLabels(context.Context, string) (labels.Set, error) { return nil, errAbsent }

// Nodes always fails.
func (*Cluster) Nodes(context.Context, []string) (found map[string]*corev1.Node, unread string, err error) {
	return nil, "", errAbsent
}

// CheckNamespace always fails.
func (*Cluster) CheckNamespace(context.Context) error { return errAbsent }

// Watch always fails.
func (*Cluster) Watch(context.Context, Query, Listener) error { return errAbsent }

// Names returns no names.
func (*Cluster) Names(context.Context, Kind) []string { return nil }

// Namespaces returns no names.
func (*Cluster) Namespaces(context.Context) []string { return nil }
