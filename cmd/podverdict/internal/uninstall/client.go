package uninstall

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
)

// Client speaks with a cluster that has, or had, an installation.
type Client struct {
	// Progress is called with the number of objects that were read or changed.
	Progress func(objects int)
	// Wait bounds how long it waits for the controller to stop, and again for deleted objects to go.
	Wait time.Duration

	objects                   metadata.Interface
	apps, batch, coordination *rest.RESTClient
	now                       func() time.Time
}

// NewClient makes a client; nothing is asked of the API server yet.
func NewClient(config *rest.Config) (c *Client, err error) {
	c = &Client{Progress: func(int) {}, Wait: 2 * time.Minute, now: time.Now}
	config = rest.CopyConfig(config)
	config.QPS = -1 // width bounds how many calls are made at a time, and the API server has a limit of its own
	config.WarningHandler = rest.NoWarnings{}
	if c.objects, err = metadata.NewForConfig(config); err != nil {
		return nil, err
	}
	err = c.connect(config)
	return c, err
}

// connect makes the clients for objects of which metadata alone does not say enough.
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
	// jobPageSize is how many Jobs are asked for at once: they are read whole, and may be large.
	jobPageSize = 50
	// width is how many Pods are let go at a time.
	width = 16
	// pollPeriod is the time between two looks at what is to go.
	pollPeriod = 500 * time.Millisecond
)

// list reads the metadata of all objects of a resource. A resource that is not served has none.
func (c *Client) list(ctx context.Context, resource schema.GroupVersionResource, namespace, selector string) ([]metav1.PartialObjectMetadata, error) {
	all, _, err := cluster.ReadPages(ctx, c.Progress, metav1.ListOptions{LabelSelector: selector},
		c.objects.Resource(resource).Namespace(namespace).List,
		func(l *metav1.PartialObjectMetadataList) []metav1.PartialObjectMetadata { return l.Items })
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return all, errList(resource.GroupResource(), namespace, err)
}

// listJobs reads the managed Jobs. The API server cannot select them.
func (c *Client) listJobs(ctx context.Context, namespace string) ([]batchv1.Job, error) {
	all, _, err := cluster.ReadPages(ctx, c.Progress, metav1.ListOptions{Limit: jobPageSize},
		cluster.List[batchv1.JobList](c.batch, jobs.Resource, namespace), managedJobs)
	return all, errList(jobs.GroupResource(), namespace, err)
}

// managedJobs returns what is read of the managed Jobs of a list, which is small.
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
