package caches

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/podverdict/podverdict/compiler/cel"
)

// nodes caches the cluster's nodes once a rule reads them. Until then, no nodes are requested.
type nodes struct {
	cache.SharedIndexInformer

	source *Optional
	kept   *keeper
	// wanted is closed by want when a rule reads nodes.
	wanted chan struct{}
	want   func()
}

// ofNodes are the fields of nodes that the caches need themselves.
var ofNodes = cel.NewFields("Node.metadata", "ObjectMeta.name", "ObjectMeta.resourceVersion", "ObjectMeta.managedFields", "ManagedFieldsEntry.*")

func newNodes(client kubernetes.Interface, caching *caching) (*nodes, error) {
	all := client.CoreV1().Nodes()
	n := &nodes{kept: &caching.nodes, wanted: make(chan struct{})}
	n.want = sync.OnceFunc(func() { close(n.wanted) })
	n.source = &Optional{
		Resource: "nodes", Clock: clock.RealClock{}, Forget: true, None: func() runtime.Object { return &corev1.NodeList{} },
		Lists: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			caching.nodes.lists(o)
			list, err := all.List(ctx, o)
			if err != nil {
				return nil, err
			}
			for i := range list.Items { // trim each page before the next one arrives
				caching.trimNode(&list.Items[i])
			}
			return list, nil
		},
		Watches: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return caching.nodes.watch(o, func() (watch.Interface, error) { return all.Watch(ctx, o) })
		},
	}
	var err error
	n.SharedIndexInformer, err = n.source.Informer(&corev1.Node{}, caching.transform)
	return n, err
}

// run waits until a rule reads nodes, and then follows the nodes until ctx is done.
func (n *nodes) run(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-n.wanted:
		n.RunWithContext(ctx)
	}
}

func (n *nodes) isWanted() bool {
	select {
	case <-n.wanted:
		return true
	default:
		return false
	}
}

// named returns a node, or nil if it does not exist. Read is true if the cache holds all nodes.
func (n *nodes) named(name string) (node *corev1.Node, read bool) {
	// The version is empty until the nodes have been listed, and again after reading them has been forbidden. It changes together with the
	// stored nodes. Check it before and after the lookup, so that an empty cache is not mistaken for a cluster without the node.
	before := n.GetIndexer().LastStoreSyncResourceVersion()
	object, _, _ := n.GetIndexer().GetByKey(name) // an indexer returns no errors
	if before == "" || n.GetIndexer().LastStoreSyncResourceVersion() == "" {
		return nil, false
	}
	node, _ = object.(*corev1.Node)
	return node, true
}

// lacks reports whether some fields of a pod's node that rules read are not known yet.
func (n *nodes) lacks(pod *corev1.Pod) bool {
	if !n.isWanted() {
		return false
	}
	node, _ := n.named(pod.Spec.NodeName)
	return !n.HasSynced() || node != nil && n.kept.lacks(node)
}

// trimNode removes the fields that no rule reads from a node.
func (c *caching) trimNode(node *corev1.Node) {
	now := c.nodes.keeping.Load()
	if !now.trimmed(node) {
		node.ManagedFields = now.mark
		now.pruner.Prune(node)
	}
}

// NodeOf returns the node that a pod is bound to, or nil if it does not exist. Read is false if the nodes are unknown: no rule reads them,
// the controller is not allowed to read them, or they have not been listed yet.
func (c *Caches) NodeOf(pod *corev1.Pod) (node *corev1.Node, read bool) {
	node, read = c.nodes.named(pod.Spec.NodeName)
	if node != nil { // without the mark, for evaluating rules
		unmarked := *node
		unmarked.ManagedFields = nil
		node = &unmarked
	}
	return node, read
}

// NodesRefused reports whether rules read nodes but the controller is not allowed to.
func (c *Caches) NodesRefused() bool { return c.nodes.source.absent.Load() }

// SubscribeNodesRefused registers a function that is called when the result of NodesRefused changes. It must be called before Start.
func (c *Caches) SubscribeNodesRefused(changed func()) { c.nodes.source.changed = changed }

// SubscribeNodes registers a function that is called with a node before and after each change of a field that rules read. A nil node means
// that it does not exist.
func (c *Caches) SubscribeNodes(changed func(before, after *corev1.Node)) error {
	_, err := c.nodes.AddEventHandler(handlerOf(func(before, after *corev1.Node) {
		if before == nil || after == nil || !sameToRules(before, after) {
			changed(before, after)
		}
	}))
	return err
}

// sameToRules reports whether two states of a node are equal in all fields that rules can read.
func sameToRules(before, after *corev1.Node) bool {
	now := *after
	now.ResourceVersion, now.ManagedFields = before.ResourceVersion, before.ManagedFields
	return equality.Semantic.DeepEqual(before, &now)
}
