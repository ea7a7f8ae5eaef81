package uninstall

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
	batchclient "k8s.io/client-go/kubernetes/typed/batch/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
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

	objects metadata.Interface
	apps    appsclient.AppsV1Interface
	jobs    batchclient.BatchV1Interface
	leases  coordinationclient.CoordinationV1Interface
	now     func() time.Time
}

// NewClient makes a client; nothing is asked of the API server yet.
func NewClient(config *rest.Config) (*Client, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // width bounds how many calls are made at a time, and the API server has a limit of its own
	config.WarningHandler = rest.NoWarnings{}
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	apps, err := appsclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	jobs, err := batchclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	leases, err := coordinationclient.NewForConfig(config)
	return &Client{
		Progress: func(int) {}, Wait: 2 * time.Minute,
		objects: objects, apps: apps, jobs: jobs, leases: leases, now: time.Now,
	}, err
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
	all, _, err := cluster.ReadPages(ctx, c.Progress, metav1.ListOptions{Limit: jobPageSize}, c.jobs.Jobs(namespace).List, managedJobs)
	return all, errList(schema.GroupResource{Group: "batch", Resource: "jobs"}, namespace, err)
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
