package uninstall

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Complete reports whether everything was removed that was to be removed.
func (i *Installation) Complete() bool {
	return !slices.ContainsFunc(i.Objects, func(o Object) bool { return o.Result == Failed || o.Result == Found }) &&
		!slices.ContainsFunc(i.Pods, func(p Pod) bool { return p.Result != Released })
}

// Remove stops the controller, lets go of its Pods, and deletes what is to be deleted. It goes on after what fails, but not while
// a controller is at work: the error says so, and that it has not begun. It returns the installation with the results.
func (c *Client) Remove(ctx context.Context, found *Installation) (*Installation, error) {
	copied := *found
	result := &copied
	result.Objects = slices.Clone(found.Objects)
	stopped := func(o *Object) bool { return o.resource == deployments }
	c.delete(ctx, result.Objects, stopped)
	if err := c.awaitStop(ctx, found); err != nil {
		return result, err
	}
	held, _, err := c.held(ctx, "")
	if err != nil {
		return result, err
	}
	result.Pods = held
	c.release(ctx, result.Pods)
	c.delete(ctx, result.Objects, func(o *Object) bool { return !stopped(o) })
	c.deleteLeases(ctx, found.leases)
	c.awaitGone(ctx, result.Objects)
	return result, nil
}

// delete deletes the objects that were found and for which is returns true, and sets their results.
func (c *Client) delete(ctx context.Context, objects []Object, is func(*Object) bool) {
	background := metav1.DeletePropagationBackground
	for i := range objects {
		o := &objects[i]
		if o.Result != Found || !is(o) {
			continue
		}
		err := c.objects.Resource(o.resource).Namespace(o.Namespace).Delete(ctx, o.Name,
			metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &o.uid}})
		o.Result = Deleted
		if err != nil && !apierrors.IsNotFound(err) {
			o.Result, o.Message = Failed, err.Error()
		}
		c.Progress(1)
	}
}

// deleteLeases deletes the controller's leases, which have no labels. Those that stay do no harm.
func (c *Client) deleteLeases(ctx context.Context, named []types.NamespacedName) {
	for _, lease := range named {
		_ = c.objects.Resource(leases).Namespace(lease.Namespace).Delete(ctx, lease.Name, metav1.DeleteOptions{})
	}
}

// awaitStop waits until the Pods of the controller are gone and nobody has its lease. Pods on a lost node stay: then the lease
// alone says that the controller has stopped.
func (c *Client) awaitStop(ctx context.Context, found *Installation) error {
	err := c.await(ctx, func(ctx context.Context) (int, error) {
		running, err := c.list(ctx, pods, found.Namespace, replicas)
		return len(running), err
	})
	if err != nil {
		return err
	}
	for deadline := c.now().Add(c.Wait); ; {
		err := c.free(ctx, found.leases)
		if _, live := errors.AsType[*LiveError](err); !live || c.now().After(deadline) {
			return err
		}
	}
}

// awaitGone waits for deleted objects to go, and marks those that do not.
func (c *Client) awaitGone(ctx context.Context, objects []Object) {
	there := func(ctx context.Context, o *Object) bool {
		now, err := c.objects.Resource(o.resource).Namespace(o.Namespace).Get(ctx, o.Name, metav1.GetOptions{})
		return err == nil && now.UID == o.uid
	}
	_ = c.await(ctx, func(ctx context.Context) (left int, err error) {
		for i := range objects {
			if o := &objects[i]; o.Result == Deleted && there(ctx, o) {
				left++
			}
		}
		return left, nil
	})
	for i := range objects {
		if o := &objects[i]; o.Result == Deleted && there(ctx, o) {
			o.Result, o.Message = Failed, "it is being deleted, and not gone yet"
		}
	}
}

// await polls until nothing is left, for as long as the client waits. Its error is that of the last count, or says that ctx is
// done.
func (c *Client) await(ctx context.Context, count func(context.Context) (int, error)) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, pollPeriod, c.Wait, true, func(ctx context.Context) (bool, error) {
		left, err := count(ctx)
		last = err
		return err == nil && left == 0, nil // an error may go away
	})
	if ctx.Err() != nil {
		return err
	}
	return last
}
