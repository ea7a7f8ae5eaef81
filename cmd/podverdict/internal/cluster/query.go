package cluster

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
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
