package memoryapi

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// The resources that a Server serves.
const (
	Jobs       = "jobs"
	Pods       = "pods"
	Events     = "events"
	Namespaces = "namespaces"
	Nodes      = "nodes"
	Policies   = v1alpha1.ResourcePodFailurePolicies
	Bindings   = v1alpha1.ResourcePodFailurePolicyBindings
)

// Object is an object that a Server stores.
type Object interface {
	metav1.Object
	runtime.Object
}

// resource describes a kind of objects.
type resource struct {
	name  string
	kind  schema.GroupVersionKind
	fresh func() Object
	list  func([]Object, metav1.ListMeta) runtime.Object
}

func (r resource) group() schema.GroupResource {
	return r.kind.GroupVersion().WithResource(r.name).GroupResource()
}

// typed returns a copy of an object with its TypeMeta, which stored objects lack.
func (r resource) typed(o Object) Object {
	copied, ok := o.DeepCopyObject().(Object)
	if ok {
		copied.GetObjectKind().SetGroupVersionKind(r.kind)
	}
	return copied
}

func resources() []resource {
	return []resource{
		{
			Jobs, batchv1.SchemeGroupVersion.WithKind("Job"), func() Object { return &batchv1.Job{} },
			func(objects []Object, meta metav1.ListMeta) runtime.Object {
				return &batchv1.JobList{TypeMeta: listType(batchv1.SchemeGroupVersion, "JobList"), ListMeta: meta, Items: items[batchv1.Job](objects)}
			},
		},
		{
			Pods, corev1.SchemeGroupVersion.WithKind("Pod"), func() Object { return &corev1.Pod{} },
			func(objects []Object, meta metav1.ListMeta) runtime.Object {
				return &corev1.PodList{TypeMeta: listType(corev1.SchemeGroupVersion, "PodList"), ListMeta: meta, Items: items[corev1.Pod](objects)}
			},
		},
		{
			Events, eventsv1.SchemeGroupVersion.WithKind("Event"), func() Object { return &eventsv1.Event{} },
			func(objects []Object, meta metav1.ListMeta) runtime.Object {
				return &eventsv1.EventList{TypeMeta: listType(eventsv1.SchemeGroupVersion, "EventList"), ListMeta: meta, Items: items[eventsv1.Event](objects)}
			},
		},
		{
			Namespaces, corev1.SchemeGroupVersion.WithKind("Namespace"), func() Object { return &corev1.Namespace{} },
			func(objects []Object, meta metav1.ListMeta) runtime.Object {
				return &corev1.NamespaceList{TypeMeta: listType(corev1.SchemeGroupVersion, "NamespaceList"), ListMeta: meta, Items: items[corev1.Namespace](objects)}
			},
		},
		{
			Nodes, corev1.SchemeGroupVersion.WithKind("Node"), func() Object { return &corev1.Node{} },
			func(objects []Object, meta metav1.ListMeta) runtime.Object {
				return &corev1.NodeList{TypeMeta: listType(corev1.SchemeGroupVersion, "NodeList"), ListMeta: meta, Items: items[corev1.Node](objects)}
			},
		},
		{
			Policies, v1alpha1.GroupVersion.WithKind(v1alpha1.KindPodFailurePolicy), func() Object { return &v1alpha1.PodFailurePolicy{} },
			func(objects []Object, meta metav1.ListMeta) runtime.Object {
				all := items[v1alpha1.PodFailurePolicy](objects)
				return &v1alpha1.PodFailurePolicyList{TypeMeta: listType(v1alpha1.GroupVersion, "PodFailurePolicyList"), ListMeta: meta, Items: all}
			},
		},
		{
			Bindings, v1alpha1.GroupVersion.WithKind(v1alpha1.KindPodFailurePolicyBinding), func() Object { return &v1alpha1.PodFailurePolicyBinding{} },
			func(objects []Object, meta metav1.ListMeta) runtime.Object {
				all := items[v1alpha1.PodFailurePolicyBinding](objects)
				return &v1alpha1.PodFailurePolicyBindingList{TypeMeta: listType(v1alpha1.GroupVersion, "PodFailurePolicyBindingList"), ListMeta: meta, Items: all}
			},
		},
	}
}

func listType(version schema.GroupVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: version.String(), Kind: kind}
}

func items[T any](objects []Object) []T {
	all := make([]T, 0, len(objects))
	for _, o := range objects {
		if object, ok := any(o).(*T); ok {
			all = append(all, *object)
		}
	}
	return all
}
