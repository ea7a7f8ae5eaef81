package policies

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/internal/caches"
)

// client accesses podverdict's own kinds, which the API server serves only as JSON.
type client struct {
	*rest.RESTClient

	parameters runtime.ParameterCodec
}

func newClient(config *rest.Config) (*client, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.APIPath = "/apis"
	config.ContentConfig = rest.ContentConfig{
		GroupVersion: &v1alpha1.GroupVersion, NegotiatedSerializer: serializer.NewCodecFactory(scheme).WithoutConversion(),
		ContentType: runtime.ContentTypeJSON, AcceptContentTypes: runtime.ContentTypeJSON,
	}
	restClient, err := rest.RESTClientFor(config)
	return &client{restClient, runtime.NewParameterCodec(scheme)}, err
}

// informer returns an informer for a kind that may not be installed.
func (c *client) informer(resource string, clock clock.WithTicker, example, list runtime.Object) (cache.SharedIndexInformer, error) {
	kind := &caches.Optional{
		Resource: resource, Clock: clock, None: list.DeepCopyObject,
		Lists: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			listed := list.DeepCopyObject()
			return listed, c.Get().Resource(resource).VersionedParams(&o, c.parameters).Do(ctx).Into(listed)
		},
		Watches: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.Watch = true
			return c.Get().Resource(resource).VersionedParams(&o, c.parameters).Watch(ctx)
		},
	}
	return kind.Informer(example, trimPolicy)
}

// updateStatus writes the status of a policy or binding, unless the object has changed in the meantime.
func (c *client) updateStatus(ctx context.Context, resource string, object v1alpha1.Object) error {
	returned := v1alpha1.New(object.GetObjectKind().GroupVersionKind())
	return c.Put().Resource(resource).Name(object.GetName()).SubResource("status").Body(object).Do(ctx).Into(returned)
}

// newNamespaceInformer watches the labels of all namespaces, or of one. A controller for one namespace may lack the permission to do
// so.
func newNamespaceInformer(client kubernetes.Interface, only string, clock clock.WithTicker) (cache.SharedIndexInformer, error) {
	namespaces := client.CoreV1().Namespaces()
	selector := ""
	if only != "" {
		selector = metav1.ObjectNameField + "=" + only
	}
	kind := &caches.Optional{
		Resource: "namespaces", Clock: clock, None: func() runtime.Object { return &corev1.NamespaceList{} },
		Lists: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = selector
			return namespaces.List(ctx, o)
		},
		Watches: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = selector
			return namespaces.Watch(ctx, o)
		},
	}
	return kind.Informer(&corev1.Namespace{}, trimNamespace)
}

// trimPolicy removes managedFields and sets the defaults, which an older API server may not know.
func trimPolicy(object any) (any, error) {
	if known, ok := object.(v1alpha1.Object); ok {
		known.SetManagedFields(nil)
		known.SetDefaults()
	}
	return object, nil
}

// trimNamespace removes everything except the labels.
func trimNamespace(object any) (any, error) {
	if n, ok := object.(*corev1.Namespace); ok {
		n.ObjectMeta = metav1.ObjectMeta{Name: n.Name, ResourceVersion: n.ResourceVersion, Labels: n.Labels}
		n.Spec, n.Status = corev1.NamespaceSpec{}, corev1.NamespaceStatus{}
	}
	return object, nil
}
