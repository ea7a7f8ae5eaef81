package cluster

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// Query says what to read.
type Query struct {
	// Targets are the objects.
	Targets []Target
	// AllNamespaces looks in all namespaces rather than in the Cluster's.
	AllNamespaces bool
	// Selector is a label selector for Targets without a name; "" selects all.
	Selector string
}

// Found is what a query finds.
type Found struct {
	Jobs []manifest.Job
	// Pods are those of the Jobs. If the query names Pods, they are just these.
	Pods []manifest.Pod
	// Bare are the Pods asked for that name no Job.
	Bare []manifest.Pod
	// Unread says what could not be read for lack of rights, or is "".
	Unread string
}

// Listener has the functions that a watch calls.
type Listener struct {
	// Failed is given each Pod that has failed, once, with its Job. Its error ends the watch.
	Failed func(manifest.Job, manifest.Pod) error
	// Notice is called with messages for users: connections lost and found again, Pods whose Job is gone.
	Notice func(text string)
}

// Check refuses what kubectl refuses: names with a selector or in all namespaces, and selectors that are none.
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
