package uninstall

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// errList says what could not be listed. It returns nil for nil.
func errList(resource schema.GroupResource, namespace string, err error) error {
	switch {
	case err == nil:
		return nil
	case namespace == "":
		return fmt.Errorf("list %s in all namespaces: %w", resource, err)
	}
	return fmt.Errorf("list %s in namespace %s: %w", resource, namespace, err)
}

// A LiveError says that a controller holds a lease.
type LiveError struct{ Namespace, Lease, Holder string }

func (e *LiveError) Error() string {
	return fmt.Sprintf("a controller is at work: %s has the lease %s/%s", e.Holder, e.Namespace, e.Lease)
}
