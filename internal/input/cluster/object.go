//go:build !js

package cluster

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// find reads the object that a target names, or all objects of its kind that match the query's selector.
func find[T, L any, P object[T], PL interface {
	*L
	list
}](ctx context.Context, c *Cluster, client *rest.RESTClient, q Query, t Target) ([]*T, error) {
	if t.Name != "" {
		read, err := Get[T, P](ctx, client, t.Kind.plural(), c.Namespace, t.Name)
		if err != nil {
			return nil, c.missing(ctx, err, t)
		}
		return []*T{read}, nil
	}
	namespace := c.scope(q)
	found, _, err := ReadPages(ctx, c.Progress, metav1.ListOptions{LabelSelector: q.Selector}, List[L, PL](client, t.Kind.plural(), namespace), items[T])
	return found, c.failure(err, request{"list", t.Kind.resource(), namespace})
}

func (c *Cluster) jobs(ctx context.Context, q Query, t Target) ([]*batchv1.Job, error) {
	return find[batchv1.Job, batchv1.JobList](ctx, c, c.batch, q, t)
}

// allJobs reads all Jobs in the namespaces of a query and ignores its selector.
func (c *Cluster) allJobs(ctx context.Context, q Query) ([]*batchv1.Job, error) {
	return c.jobs(ctx, Query{AllNamespaces: q.AllNamespaces}, Target{Kind: Job})
}

func (c *Cluster) cronJobs(ctx context.Context, q Query, t Target) ([]*batchv1.CronJob, error) {
	return find[batchv1.CronJob, batchv1.CronJobList](ctx, c, c.batch, q, t)
}

func (c *Cluster) namespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	return Get[corev1.Namespace](ctx, c.core, "namespaces", metav1.NamespaceAll, name)
}

// missing explains why an object could not be read. If the object does not exist, the error reports a missing namespace, or suggests
// similar names.
func (c *Cluster) missing(ctx context.Context, err error, t Target) error {
	if !apierrors.IsNotFound(err) {
		return c.failure(err, request{"get", t.Kind.resource(), c.Namespace})
	}
	if err := c.CheckNamespace(ctx); err != nil {
		return err
	}
	return fmt.Errorf("no %s %q in namespace %s%s", t.Kind, t.Name, c.Namespace, alternatives(t.Name, c.Names(ctx, t.Kind)))
}

// Names returns the names of a kind's objects on the first page, or none if they cannot be listed.
func (c *Cluster) Names(ctx context.Context, kind Kind) []string {
	options := metav1.ListOptions{Limit: pageSize}
	switch kind {
	case Job:
		return namesIn(List[batchv1.JobList](c.batch, kind.plural(), c.Namespace)(ctx, options))
	case JobSet:
		return namesIn(List[v1alpha2.JobSetList](c.jobSets, kind.plural(), c.Namespace)(ctx, options))
	case CronJob:
		return namesIn(List[batchv1.CronJobList](c.batch, kind.plural(), c.Namespace)(ctx, options))
	default:
		return namesIn(List[corev1.PodList](c.core, kind.plural(), c.Namespace)(ctx, options))
	}
}

// namesIn returns the names in a list, or none if the list could not be read.
func namesIn(list runtime.Object, err error) []string {
	if err != nil {
		return nil
	}
	var names []string
	_ = meta.EachListItem(list, func(object runtime.Object) error { // objects without metadata are ignored
		if named, err := meta.Accessor(object); err == nil {
			names = append(names, named.GetName())
		}
		return nil
	})
	return names
}

// Namespaces returns the namespaces on the first page, for shell completion, or none if they cannot be listed.
func (c *Cluster) Namespaces(ctx context.Context) []string {
	return namesIn(List[corev1.NamespaceList](c.core, "namespaces", metav1.NamespaceAll)(ctx, metav1.ListOptions{Limit: pageSize}))
}

// CheckNamespace returns an error if the namespace does not exist, because the API server lists a missing namespace like an empty
// one. If reading namespaces is forbidden, it returns nil.
func (c *Cluster) CheckNamespace(ctx context.Context) error {
	_, err := c.namespace(ctx, c.Namespace)
	if !apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("no namespace %q%s", c.Namespace, alternatives(c.Namespace, c.Namespaces(ctx)))
}
