package ecosystem

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

func TestMain(m *testing.M) { os.Exit(controlplane.Run(m)) } //nolint:forbidigo // main of the tests

// patience is how long a scenario waits for something. It allows for the backoff of both Job controllers, and for a machine
// whose cores are all taken.
const patience = 3 * time.Minute

// ecosystem is a cluster with the controllers of a suite.
type ecosystem struct {
	*testcluster.World

	objects dynamic.Interface
	mapper  meta.ResettableRESTMapper
	watched map[string]cache.GenericLister // by kind
}

// watchedKinds are those that are compared.
var watchedKinds = []schema.GroupVersionKind{
	{Version: "v1", Kind: "Pod"},
	{Group: "batch", Version: "v1", Kind: "Job"},
	{Group: "batch", Version: "v1", Kind: "CronJob"},
	{Group: "jobset.x-k8s.io", Version: "v1alpha2", Kind: "JobSet"},
	{Group: "kueue.x-k8s.io", Version: "v1beta2", Kind: "Workload"},
}

// newEcosystem returns the cluster of a name. The flags are those of its controller manager.
func newEcosystem(t *testing.T, name string, flags ...string) *ecosystem {
	t.Helper()
	cluster := controlplane.StartNamed(t, name, controlplane.ControllerManager.With(flags...), controlplane.Scheduler, controlplane.Kwok)
	w := &ecosystem{World: testcluster.NewWorld(t, cluster), watched: map[string]cache.GenericLister{}}
	var err error
	if w.objects, err = dynamic.NewForConfig(cluster.Config); err != nil {
		t.Fatal(err)
	}
	w.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(w.Client.Discovery()))
	return w
}

// in returns the cluster of a suite that watches for itself.
func (w *ecosystem) in(*testing.T) *ecosystem {
	inner := *w
	inner.watched = map[string]cache.GenericLister{}
	return &inner
}

// resource returns the client of an object's kind.
func (w *ecosystem) resource(kind schema.GroupVersionKind) (dynamic.NamespaceableResourceInterface, bool, error) {
	mapping, err := w.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, false, err
	}
	return w.objects.Resource(mapping.Resource), mapping.Scope.Name() == meta.RESTScopeNameNamespace, nil
}

// awaitKinds waits until the kinds that are defined by some of the objects are served.
func (w *ecosystem) awaitKinds(ctx context.Context, objects []*unstructured.Unstructured) error {
	return await(ctx, "kinds are served", func(context.Context) error {
		w.mapper.Reset()
		for _, object := range objects {
			if object.GetKind() != "CustomResourceDefinition" {
				continue
			}
			group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
			kind, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
			if _, err := w.mapper.RESTMapping(schema.GroupKind{Group: group, Kind: kind}); err != nil {
				return err
			}
		}
		return nil
	})
}

// watch keeps the objects of the kinds that are compared and that are served.
func (w *ecosystem) watch(t *testing.T) {
	t.Helper()
	factory := dynamicinformer.NewDynamicSharedInformerFactory(w.objects, 0)
	for _, kind := range watchedKinds {
		mapping, err := w.mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		informer := factory.ForResource(mapping.Resource)
		w.watched[kind.Kind] = informer.Lister()
		informer.Informer()
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(func() {
		stop()
		factory.Shutdown()
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
}

// list returns the objects of a kind in a namespace, as the watch has them.
func (w *ecosystem) list(kind, namespace string) (all []*unstructured.Unstructured) {
	lister := w.watched[kind]
	if lister == nil {
		return nil
	}
	found, err := lister.ByNamespace(namespace).List(labels.Everything())
	if err != nil {
		return nil
	}
	for _, object := range found {
		if object, ok := object.(*unstructured.Unstructured); ok {
			all = append(all, object)
		}
	}
	return all
}

// await waits until there is no error.
func await(ctx context.Context, what string, check func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until %s: %w, %w", what, err, last)
	}
	return nil
}

// decode returns the objects of a YAML stream.
func decode(text []byte) (objects []*unstructured.Unstructured, err error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		switch err := decoder.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		case len(object.Object) > 0:
			objects = append(objects, object)
		}
	}
}

// create creates objects, those without a namespace of their own in the one given.
func (w *ecosystem) create(ctx context.Context, namespace string, objects ...*unstructured.Unstructured) error {
	for _, object := range objects {
		kind := object.GroupVersionKind()
		resource, namespaced, err := w.resource(kind)
		if err != nil {
			return err
		}
		var client dynamic.ResourceInterface = resource
		if namespaced {
			client = resource.Namespace(cmp.Or(object.GetNamespace(), namespace))
		}
		if _, err := client.Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("%s %s: %w", kind.Kind, object.GetName(), err)
		}
	}
	return nil
}

func (w *ecosystem) createNode(t *testing.T) {
	t.Helper()
	objects, err := decode([]byte(node))
	if err := errors.Join(err, w.create(t.Context(), "", objects...)); err != nil {
		t.Fatal(err)
	}
}

// node is a node that kwok plays, with room for all Pods that select no node.
const node = `
apiVersion: v1
kind: Node
metadata: {name: node, labels: {kubernetes.io/hostname: node, kubernetes.io/os: linux}, annotations: {` + controlplane.AnnotationNode + `: fake}}
status:
  allocatable: {pods: 10k, cpu: 10k, memory: 10Ti}
  capacity: {pods: 10k, cpu: 10k, memory: 10Ti}
`
