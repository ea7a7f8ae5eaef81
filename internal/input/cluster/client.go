//go:build !js

package cluster

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

// NewClient returns a client for the kinds of one group, which add registers. client-go's typed clients link and register the kinds of
// all groups.
func NewClient(config *rest.Config, group schema.GroupVersion, add func(*runtime.Scheme) error) (*rest.RESTClient, error) {
	scheme := runtime.NewScheme()
	if err := add(scheme); err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.GroupVersion, config.APIPath = &group, "/apis"
	if group.Group == "" {
		config.APIPath = "/api"
	}
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON // JSON is the only one for custom resources
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	return rest.RESTClientFor(config)
}

// object is a pointer to the Go type of a kind.
type object[T any] interface {
	*T
	runtime.Object
}

// Get reads an object. For cluster-scoped objects, namespace is "".
func Get[T any, P object[T]](ctx context.Context, client *rest.RESTClient, resource, namespace, name string) (*T, error) {
	read := new(T)
	return read, client.Get().NamespaceIfScoped(namespace, namespace != "").Resource(resource).Name(name).Do(ctx).Into(P(read))
}

// List returns a function that reads one page of a list, for ReadPages. An empty namespace means all namespaces.
func List[L any, P object[L]](client *rest.RESTClient, resource, namespace string) func(context.Context, metav1.ListOptions) (P, error) {
	return func(ctx context.Context, o metav1.ListOptions) (P, error) {
		read := P(new(L))
		return read, listRequest(client, resource, namespace, o).Do(ctx).Into(read)
	}
}

func listRequest(client *rest.RESTClient, resource, namespace string, o metav1.ListOptions) *rest.Request {
	return client.Get().NamespaceIfScoped(namespace, namespace != "").Resource(resource).VersionedParams(&o, metav1.ParameterCodec)
}
