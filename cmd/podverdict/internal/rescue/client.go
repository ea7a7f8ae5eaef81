package rescue

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/input/cluster"
)

// Client accesses a cluster that has, or had, a controller.
type Client struct {
	// Progress is called with the number of objects that were read or changed.
	Progress func(objects int)

	objects                   metadata.Interface
	apps, batch, coordination *rest.RESTClient
	now                       func() time.Time
}

// NewClient returns a client. It makes no requests to the API server.
func NewClient(config *rest.Config) (c *Client, err error) {
	c = &Client{Progress: func(int) {}, now: time.Now}
	config = rest.CopyConfig(config)
	config.QPS = -1 // width limits concurrent calls, and the API server has its own limit
	config.WarningHandler = rest.NoWarnings{}
	if c.objects, err = metadata.NewForConfig(config); err != nil {
		return nil, err
	}
	err = c.connect(config)
	return c, err
}

// connect creates the clients for objects that are not read as metadata only.
func (c *Client) connect(config *rest.Config) (err error) {
	if c.apps, err = cluster.NewClient(config, appsv1.SchemeGroupVersion, appsv1.AddToScheme); err != nil {
		return err
	}
	if c.batch, err = cluster.NewClient(config, batchv1.SchemeGroupVersion, batchv1.AddToScheme); err != nil {
		return err
	}
	c.coordination, err = cluster.NewClient(config, coordinationv1.SchemeGroupVersion, coordinationv1.AddToScheme)
	return err
}

const (
	// jobPageSize is the number of Jobs per page. Jobs are read completely and may be large.
	jobPageSize = 50
	// width is the number of Pods released concurrently.
	width = 16
	// pollPeriod is the interval for polling a lease.
	pollPeriod = 500 * time.Millisecond
)

var (
	pods        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	jobs        = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	leases      = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
)

func (c *Client) listPods(ctx context.Context, namespace string) ([]metav1.PartialObjectMetadata, error) {
	all, _, err := cluster.ReadPages(ctx, c.Progress, metav1.ListOptions{},
		c.objects.Resource(pods).Namespace(namespace).List,
		func(l *metav1.PartialObjectMetadataList) []metav1.PartialObjectMetadata { return l.Items })
	return all, errList(pods, namespace, err)
}

// errList wraps an error from listing a resource. It returns nil for nil.
func errList(resource schema.GroupVersionResource, namespace string, err error) error {
	switch {
	case err == nil:
		return nil
	case namespace == "":
		return fmt.Errorf("list %s in all namespaces: %w", resource.GroupResource(), err)
	}
	return fmt.Errorf("list %s in namespace %s: %w", resource.GroupResource(), namespace, err)
}

// listJobs lists the managed Jobs. The API server cannot filter them.
func (c *Client) listJobs(ctx context.Context, namespace string) ([]batchv1.Job, error) {
	all, _, err := cluster.ReadPages(ctx, c.Progress, metav1.ListOptions{Limit: jobPageSize},
		cluster.List[batchv1.JobList](c.batch, jobs.Resource, namespace), managedJobs)
	return all, errList(jobs, namespace, err)
}

// managedJobs returns the managed Jobs of a list, without the fields that are not needed.
func managedJobs(list *batchv1.JobList) []batchv1.Job {
	var managed []batchv1.Job
	for _, job := range list.Items {
		if job.Spec.ManagedBy != nil && *job.Spec.ManagedBy == v1alpha1.JobController {
			job.Spec, job.ManagedFields, job.Annotations = batchv1.JobSpec{}, nil, nil
			managed = append(managed, job)
		}
	}
	return managed
}
