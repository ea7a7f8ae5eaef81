package memoryapi

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// Remove stops serving resources, as if their definitions were deleted: their objects are deleted, then their watches
// end.
func (s *Server) Remove(resources ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range resources {
		t := s.tables[name]
		for _, o := range t.sorted() {
			s.remove(t, o)
		}
		for w := range t.streams {
			w.end()
		}
		clear(t.streams)
		t.absent = true
	}
}

// Serve serves resources again.
func (s *Server) Serve(resources ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range resources {
		s.tables[name].absent = false
	}
}

// Apply creates or updates a namespace, a policy or a binding as if a user had applied it, using its labels and spec only. It
// replaces a node as a whole.
func (s *Server) Apply(o Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[tableOf(o)]
	applied, ok := o.DeepCopyObject().(Object)
	if !ok || t == nil {
		return errUnsupported("the object is of another kind")
	}
	if t.objects[keyOf(o)] == nil {
		_, err := s.create(t, applied)
		return err
	}
	applied.SetResourceVersion("")
	_, err := s.update(t, applied, "")
	return err
}

func tableOf(o Object) string {
	switch o.(type) {
	case *corev1.Namespace:
		return Namespaces
	case *corev1.Node:
		return Nodes
	case *v1alpha1.PodFailurePolicy:
		return Policies
	case *v1alpha1.PodFailurePolicyBinding:
		return Bindings
	default:
		return ""
	}
}

// Delete deletes a namespace, a node, a policy or a binding if it exists.
func (s *Server) Delete(resource, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[resource]
	if o := t.objects[types.NamespacedName{Name: name}]; o != nil {
		s.remove(t, o)
	}
}

// Policy returns a copy of the named policy, or nil.
func (s *Server) Policy(name string) *v1alpha1.PodFailurePolicy {
	return get[*v1alpha1.PodFailurePolicy](s, Policies, "", name)
}

// Binding returns a copy of the named binding, or nil.
func (s *Server) Binding(name string) *v1alpha1.PodFailurePolicyBinding {
	return get[*v1alpha1.PodFailurePolicyBinding](s, Bindings, "", name)
}

// ChangePolicy changes a policy without validation. It does nothing if the policy does not exist.
func (s *Server) ChangePolicy(name string, change func(*v1alpha1.PodFailurePolicy)) {
	edit(s, Policies, "", name, change)
}
