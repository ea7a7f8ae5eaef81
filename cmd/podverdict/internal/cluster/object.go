package cluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// get reads the object that a target names.
func get[T any](
	ctx context.Context, c *Cluster, t Target, read func(context.Context, string, metav1.GetOptions) (*T, error),
) (*T, error) {
	object, err := read(ctx, t.Name, metav1.GetOptions{})
	if err != nil {
		return nil, c.missing(ctx, err, t)
	}
	return object, nil
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
		return namesIn(c.batch.Jobs(c.Namespace).List(ctx, options))
	case CronJob:
		return namesIn(c.batch.CronJobs(c.Namespace).List(ctx, options))
	default:
		return namesIn(c.core.Pods(c.Namespace).List(ctx, options))
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
	_, err := c.core.Namespaces().Get(ctx, c.Namespace, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return nil
	}
	names := namesIn(c.core.Namespaces().List(ctx, metav1.ListOptions{Limit: pageSize}))
	return fmt.Errorf("no namespace %q%s", c.Namespace, alternatives(c.Namespace, names))
}
