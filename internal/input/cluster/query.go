package cluster

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// Query selects the objects to read.
type Query struct {
	// Targets holds the objects or kinds to read.
	Targets []Target
	// AllNamespaces searches all namespaces instead of the Cluster's.
	AllNamespaces bool
	// Selector is a label selector for Targets without a name; "" selects all.
	Selector string
}

// Found is the result of a query.
type Found struct {
	Jobs []manifest.Job
	// Pods holds the Jobs' Pods. If the query names Pods, it holds only the named Pods.
	Pods []manifest.Pod
	// Bare holds the selected Pods that name no Job.
	Bare []manifest.Pod
	// Unread describes the objects that were not read because of missing permissions, or is "".
	Unread string
}

// Listener holds the callbacks of a watch.
type Listener struct {
	// Failed is called once for each failed Pod, with its Job. An error ends the watch.
	Failed func(manifest.Job, manifest.Pod) error
	// Notice is called with messages for users: lost and restored connections, Pods whose Job no longer
	// exists.
	Notice func(text string)
}

// Check rejects queries that kubectl rejects: names with a selector or in all namespaces, and invalid
// selectors.
func (q Query) Check() error {
	named := slices.ContainsFunc(q.Targets, func(t Target) bool { return t.Name != "" })
	switch {
	case named && q.Selector != "":
		return errors.New("a name and a selector: give one or the other")
	case named && q.AllNamespaces:
		return errors.New("a name in all namespaces: give its namespace with -n, or a type without names")
	}
	if _, err := labels.Parse(q.Selector); err != nil {
		return fmt.Errorf("selector %q: %w", q.Selector, err)
	}
	return nil
}

func (c *Cluster) scope(q Query) string {
	if q.AllNamespaces {
		return metav1.NamespaceAll
	}
	return c.Namespace
}
