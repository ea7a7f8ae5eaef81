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
)

// get reads the object that a target names.
func get[T any, P object[T]](ctx context.Context, c *Cluster, client *rest.RESTClient, t Target) (*T, error) {
	read, err := Get[T, P](ctx, client, t.Kind.plural(), c.Namespace, t.Name)
	if err != nil {
		return nil, c.missing(ctx, err, t)
	}
	return read, nil
}

func (c *Cluster) namespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	return Get[corev1.Namespace](ctx, c.core, "namespaces", metav1.NamespaceAll, name)
}

// missing says why an object could not be read. Of an object that does not exist it says whether the namespace does, and
// which object has nearly that name.
func (c *Cluster) missing(ctx context.Context, err error, t Target) error {
	if !apierrors.IsNotFound(err) {
		return c.failure(err, request{"get", t.Kind.resource(), c.Namespace})
	}
	if err := c.CheckNamespace(ctx); err != nil {
		return err
	}
	return fmt.Errorf("no %s %q in namespace %s%s", t.Kind, t.Name, c.Namespace, alternatives(t.Name, c.names(ctx, t.Kind)))
}

// names returns the names on the first page of a kind's objects, or none when listing them is not allowed.
func (c *Cluster) names(ctx context.Context, kind Kind) []string {
	options := metav1.ListOptions{Limit: pageSize}
	switch kind {
	case Job:
		return namesIn(List[batchv1.JobList](c.batch, kind.plural(), c.Namespace)(ctx, options))
	case CronJob:
		return namesIn(List[batchv1.CronJobList](c.batch, kind.plural(), c.Namespace)(ctx, options))
	default:
		return namesIn(List[corev1.PodList](c.core, kind.plural(), c.Namespace)(ctx, options))
	}
}

// namesIn returns the names in a list, or none when it could not be read.
func namesIn(list runtime.Object, err error) []string {
	if err != nil {
		return nil
	}
	var names []string
	_ = meta.EachListItem(list, func(object runtime.Object) error { // an object without a name has none to tell
		if named, err := meta.Accessor(object); err == nil {
			names = append(names, named.GetName())
		}
		return nil
	})
	return names
}

// CheckNamespace refuses a namespace that is not there, for those who found nothing in it: the API server lists it like
// an empty one. It accepts any namespace when reading namespaces is not allowed.
func (c *Cluster) CheckNamespace(ctx context.Context) error {
	_, err := c.namespace(ctx, c.Namespace)
	if !apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("no namespace %q%s", c.Namespace, alternatives(c.Namespace, c.Namespaces(ctx)))
}
