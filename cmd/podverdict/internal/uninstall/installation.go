package uninstall

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/config"
	"github.com/podverdict/podverdict/controller/plan"
)

const (
	// leaseName is that of the lease, unless the Deployment says another one.
	leaseName = "podverdict-controller"
	// partOf selects the objects of installations, and replicas the controller's Pods.
	partOf   = "app.kubernetes.io/part-of=podverdict"
	replicas = "app.kubernetes.io/name=podverdict-controller"
)

var (
	pods        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	jobs        = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	leases      = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	policies    = schema.GroupVersionResource{Group: "podverdict.io", Version: "v1alpha1", Resource: "podfailurepolicies"}
	bindings    = schema.GroupVersionResource{Group: "podverdict.io", Version: "v1alpha1", Resource: "podfailurepolicybindings"}
)

// Results of an Object or a Pod.
const (
	Found    = "found"    // nothing was done
	Kept     = "kept"     // it is to stay
	Deleted  = "deleted"  // it is gone
	Released = "released" // it has no finalizer of the controller
	Failed   = "failed"   // it is still as it was
)

// Object is an object of an installation.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Result    string `json:"result"`
	// Message says why the object is kept, or what has failed.
	Message string `json:"message,omitempty"`

	resource schema.GroupVersionResource
	uid      types.UID
}

// Job is a managed Job that has not finished.
type Job struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

func (j Job) String() string { return j.Namespace + "/" + j.Name }

// Installation is what is to be removed.
type Installation struct {
	// Namespace is that of the controller.
	Namespace string
	// Objects are in the order in which they are deleted.
	Objects []Object
	// Jobs are managed and have not finished: nobody will run them any more.
	Jobs []Job
	// Pods are those that have the finalizer of the controller.
	Pods []Pod
	// Policies is how many custom policies and bindings there are.
	Policies int

	leases []types.NamespacedName // of the controller
}

// Empty reports whether there is nothing to do.
func (i *Installation) Empty() bool {
	return len(i.Pods) == 0 && !slices.ContainsFunc(i.Objects, func(o Object) bool { return o.Result == Found })
}

// kind is a kind of object of an installation.
type kind struct {
	name       string
	resource   schema.GroupVersionResource
	namespaced bool
}

// kinds returns the kinds of an installation in the order in which they are deleted: the reverse of the order in which they
// are applied, but the kinds of custom policies come last.
func kinds() ([]kind, error) {
	objects, err := config.Objects(config.Options{})
	if err != nil {
		return nil, err
	}
	var all []kind
	for _, object := range slices.Backward(objects) {
		resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
		k := kind{object.GetKind(), resource, object.GetNamespace() != ""}
		if !slices.Contains(all, k) {
			all = append(all, k)
		}
	}
	return all, nil
}

// Find looks for an installation in a namespace, and for what the controller left in all. The kinds of custom policies are only
// deleted if that is wanted: all policies go with them.
func (c *Client) Find(ctx context.Context, namespace string, withPolicies bool) (*Installation, error) {
	leases, err := c.findLeases(ctx, namespace)
	if err != nil {
		return nil, err
	}
	found := &Installation{Namespace: namespace, leases: leases}
	others, err := c.others(ctx, namespace)
	if err != nil {
		return nil, err
	}
	kinds, err := kinds()
	if err != nil {
		return nil, err
	}
	for _, k := range kinds {
		objects, err := c.find(ctx, k, namespace)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			if object.Namespace != namespace && object.Kind != "Namespace" && others != "" {
				object.Result, object.Message = Kept, "namespace "+others+" has a controller, too"
			}
			if object.Kind == "CustomResourceDefinition" && !withPolicies {
				object.Result, object.Message = Kept, "custom policies are yours"
			}
			found.Objects = append(found.Objects, object)
		}
	}
	if err := c.keepUsed(ctx, found); err != nil {
		return nil, err
	}
	for _, resource := range []schema.GroupVersionResource{policies, bindings} {
		objects, err := c.list(ctx, resource, "", "")
		if err != nil {
			return nil, err
		}
		found.Policies += len(objects)
	}
	return found, c.findPods(ctx, found)
}

// others returns another namespace that has a controller, or "".
func (c *Client) others(ctx context.Context, namespace string) (string, error) {
	all, err := c.list(ctx, deployments, "", partOf)
	for _, deployment := range all {
		if deployment.Namespace != namespace {
			return deployment.Namespace, err
		}
	}
	return "", err
}

// find returns the objects of a kind.
func (c *Client) find(ctx context.Context, k kind, namespace string) (objects []Object, err error) {
	in := ""
	if k.namespaced && k.name != "RoleBinding" { // these may be where the Jobs are
		in = namespace
	}
	listed, err := c.list(ctx, k.resource, in, partOf)
	for _, object := range listed {
		if k.name == "Namespace" && object.Name != namespace {
			continue
		}
		objects = append(objects, Object{
			Kind: k.name, Namespace: object.Namespace, Name: object.Name, Result: Found, resource: k.resource, uid: object.UID,
		})
	}
	return objects, err
}

// keepUsed keeps the namespace if it has Jobs or Pods of others, which would be deleted with it.
func (c *Client) keepUsed(ctx context.Context, found *Installation) error {
	i := slices.IndexFunc(found.Objects, func(o Object) bool { return o.Kind == "Namespace" })
	if i < 0 {
		return nil
	}
	for _, resource := range []schema.GroupVersionResource{jobs, pods} {
		strangers, err := c.list(ctx, resource, found.Namespace, "app.kubernetes.io/part-of!=podverdict")
		if err != nil {
			return err
		}
		if len(strangers) > 0 {
			found.Objects[i].Result = Kept
			found.Objects[i].Message = resource.Resource + " of others are in it, as " + strangers[0].Name
		}
	}
	return nil
}

// findPods finds the Pods to let go, and the Jobs that nobody will run.
func (c *Client) findPods(ctx context.Context, found *Installation) error {
	held, managed, err := c.held(ctx, "")
	if err != nil {
		return err
	}
	found.Pods = held
	for _, job := range managed {
		if !plan.Finished(&job) && job.DeletionTimestamp == nil {
			found.Jobs = append(found.Jobs, Job{job.Namespace, job.Name})
		}
	}
	return nil
}
