package uninstall

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
)

// Stuck returns the Pods of a namespace, or of all, that have the finalizer of the controller and are being deleted, or whose
// Job is being deleted or gone.
func (c *Client) Stuck(ctx context.Context, namespace string) ([]Pod, error) {
	held, _, err := c.held(ctx, namespace)
	if err != nil {
		return nil, err
	}
	held = slices.DeleteFunc(held, func(p Pod) bool { return !p.deleting && p.owner != nil && p.owner.DeletionTimestamp == nil })
	return slices.DeleteFunc(held, func(p Pod) bool { return !p.deleting && p.owner == nil && c.exists(ctx, &p) }), nil
}

// exists reports whether a Job that is not among the managed ones is there all the same: it was created meanwhile, or is not ours. A
// Job that cannot be seen is taken to be there.
func (c *Client) exists(ctx context.Context, p *Pod) bool {
	if p.job.Name == "" {
		return false
	}
	job, err := cluster.Get[batchv1.Job](ctx, c.batch, jobs.Resource, p.Namespace, p.job.Name)
	if err != nil {
		return !apierrors.IsNotFound(err)
	}
	return job.UID == p.job.UID && job.DeletionTimestamp == nil
}

// Rescue removes the finalizers of Pods that Stuck returned, and sets their results.
func (c *Client) Rescue(ctx context.Context, stuck []Pod) { c.release(ctx, stuck) }
