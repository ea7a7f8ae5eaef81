package memoryapi

import (
	"errors"
	"strconv"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"

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

// kinds has Kubernetes' kinds and podverdict's.
var kinds = sync.OnceValue(func() *runtime.Scheme {
	all := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(all), v1alpha1.AddToScheme(all)); err != nil {
		panic(err) //nolint:forbidigo // two kinds conflict
	}
	return all
})

// codecs encodes these kinds.
var codecs = sync.OnceValue(func() serializer.CodecFactory { return serializer.NewCodecFactory(kinds()) })

// resource describes a kind of objects.
type resource struct {
	name string
	kind schema.GroupVersionKind
}

var resources = []resource{
	{Jobs, batchv1.SchemeGroupVersion.WithKind("Job")},
	{Pods, corev1.SchemeGroupVersion.WithKind("Pod")},
	{Events, eventsv1.SchemeGroupVersion.WithKind("Event")},
	{Namespaces, corev1.SchemeGroupVersion.WithKind("Namespace")},
	{Nodes, corev1.SchemeGroupVersion.WithKind("Node")},
	{Policies, v1alpha1.GroupVersion.WithKind(v1alpha1.KindPodFailurePolicy)},
	{Bindings, v1alpha1.GroupVersion.WithKind(v1alpha1.KindPodFailurePolicyBinding)},
}

func (r resource) group() schema.GroupResource {
	return r.kind.GroupVersion().WithResource(r.name).GroupResource()
}

// fresh returns an empty object.
func (r resource) fresh() Object {
	o, _ := kinds().New(r.kind) // the scheme has all
	return o.(Object)           //nolint:forcetypeassert // all have metadata
}

// list returns a list of objects at a version.
func (r resource) list(objects []Object, version int64) (runtime.Object, error) {
	kind := r.kind.GroupVersion().WithKind(r.kind.Kind + "List")
	list, err := kinds().New(kind)
	if err != nil {
		return nil, err
	}
	list.GetObjectKind().SetGroupVersionKind(kind)
	items := make([]runtime.Object, len(objects))
	for i, o := range objects {
		items[i] = o
	}
	about, err := meta.ListAccessor(list)
	if err != nil {
		return nil, err
	}
	about.SetResourceVersion(strconv.FormatInt(version, 10))
	return list, meta.SetList(list, items)
}

// typed returns a copy of an object with its TypeMeta, which stored objects lack.
func (r resource) typed(o Object) Object {
	copied, ok := o.DeepCopyObject().(Object)
	if ok {
		copied.GetObjectKind().SetGroupVersionKind(r.kind)
	}
	return copied
}
