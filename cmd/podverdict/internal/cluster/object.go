package cluster

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (c *Cluster) getJob(ctx context.Context, name string) (*batchv1.Job, error) {
	job, err := c.batch.Jobs(c.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, c.missing(ctx, err, Target{Job, name})
	}
	return job, nil
}

func (c *Cluster) getCronJob(ctx context.Context, name string) (*batchv1.CronJob, error) {
	cronJob, err := c.batch.CronJobs(c.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, c.missing(ctx, err, Target{CronJob, name})
	}
	return cronJob, nil
}

func (c *Cluster) getPod(ctx context.Context, name string) (*corev1.Pod, error) {
	pod, err := c.core.Pods(c.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, c.missing(ctx, err, Target{Pod, name})
	}
	return pod, nil
}

// missing says why an object could not be read; when it is not there, also whether its namespace is, and which of
// those that are has nearly its name.
func (c *Cluster) missing(ctx context.Context, err error, t Target) error {
	if !apierrors.IsNotFound(err) {
		return c.failure(err, request{"get", t.Kind.resource(), c.Namespace})
	}
	if err := c.CheckNamespace(ctx); err != nil {
		return err
	}
	return fmt.Errorf("no %s %q in namespace %s%s", t.Kind, t.Name, c.Namespace, alternatives(t.Name, c.names(ctx, t.Kind)))
}

// names are those of the first page of a kind's objects; none when they may not be listed.
func (c *Cluster) names(ctx context.Context, kind Kind) []string {
	var names []string
	options := metav1.ListOptions{Limit: pageSize}
	switch kind {
	case Job:
		if jobs, err := c.batch.Jobs(c.Namespace).List(ctx, options); err == nil {
			for _, job := range jobs.Items {
				names = append(names, job.Name)
			}
		}
	case CronJob:
		if cronJobs, err := c.batch.CronJobs(c.Namespace).List(ctx, options); err == nil {
			for _, cronJob := range cronJobs.Items {
				names = append(names, cronJob.Name)
			}
		}
	case Pod:
		if pods, err := c.core.Pods(c.Namespace).List(ctx, options); err == nil {
			for _, pod := range pods.Items {
				names = append(names, pod.Name)
			}
		}
	}
	return names
}

// CheckNamespace refuses a namespace that is not there, for those who found nothing in it: the API server lists it like
// an empty one. Who may not read namespaces is not told.
func (c *Cluster) CheckNamespace(ctx context.Context) error {
	_, err := c.core.Namespaces().Get(ctx, c.Namespace, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return nil
	}
	var names []string
	if namespaces, err := c.core.Namespaces().List(ctx, metav1.ListOptions{Limit: pageSize}); err == nil {
		for _, namespace := range namespaces.Items {
			names = append(names, namespace.Name)
		}
	}
	return fmt.Errorf("no namespace %q%s", c.Namespace, alternatives(c.Namespace, names))
}
