package policies

import (
	"errors"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// handle registers handlers that trigger work when a policy, a binding or the labels of a namespace change.
func (r *Registry) handle() error {
	ours := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { r.replaced(nil, object) },
		UpdateFunc: r.replaced,
		DeleteFunc: func(any) { r.touch() },
	}
	_, policyErr := r.policies.AddEventHandler(ours)
	_, bindingErr := r.bindings.AddEventHandler(ours)
	_, namespaceErr := r.namespaces.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    r.namespaceAdded,
		UpdateFunc: r.namespaceChanged,
	})
	return errors.Join(policyErr, bindingErr, namespaceErr)
}

// replaced handles a new or changed policy or binding. Before is nil for a new one. If the generation is unchanged, only the
// status was written.
func (r *Registry) replaced(before, after any) {
	old, _ := before.(v1alpha1.Object)
	object, ok := after.(v1alpha1.Object)
	if !ok {
		return
	}
	if old == nil || old.GetUID() != object.GetUID() || old.GetGeneration() != object.GetGeneration() {
		r.touch()
		return // build checks the status, too
	}
	r.statuses.add(object)
}

func (r *Registry) namespaceAdded(object any, first bool) {
	r.listed.Store(true)
	if n, ok := object.(*corev1.Namespace); ok && !first {
		r.changed(n.Name)
	}
}

func (r *Registry) namespaceChanged(before, after any) {
	old, wasNamespace := before.(*corev1.Namespace)
	n, ok := after.(*corev1.Namespace)
	if ok && wasNamespace && !maps.Equal(old.Labels, n.Labels) {
		r.changed(n.Name)
	}
}
