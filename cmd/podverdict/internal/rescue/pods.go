package rescue

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/input/cluster"
)

// Results for a Pod.
const (
	Found    = "found"    // not released yet
	Released = "released" // no longer has the controller's finalizer
	Failed   = "failed"   // not changed
)

// Pod is a Pod with the controller's finalizer.
type Pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Result is Found, Released or Failed.
	Result string `json:"result"`
	// Message is the error if the release failed.
	Message string `json:"message,omitempty"`

	uid      types.UID
	deleting bool         // whether the Pod is being deleted
	job      plan.Owner   // zero if the Pod has no owner
	owner    *batchv1.Job // the Job in the cluster, or nil if it is gone
}

// Stuck returns the Pods in a namespace, or in all namespaces, that have the controller's finalizer and either are being deleted or have a
// Job that is being deleted or gone. A controller that comes back will count the others.
func (c *Client) Stuck(ctx context.Context, namespace string) ([]Pod, error) {
	held, err := c.Held(ctx, namespace)
	if err != nil {
		return nil, err
	}
	held = slices.DeleteFunc(held, func(p Pod) bool { return !p.deleting && p.owner != nil && p.owner.DeletionTimestamp == nil })
	return slices.DeleteFunc(held, func(p Pod) bool { return !p.deleting && p.owner == nil && c.exists(ctx, &p) }), nil
}

// exists reports whether the Pod's Job exists although it is not among the managed Jobs: it was created in the meantime, or is not managed
// by this controller. A Job that cannot be read is assumed to exist.
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

// Held returns the Pods in a namespace, or in all namespaces, that were created by the controller and have its finalizer.
//
// It reads all Pods as metadata, because a Pod whose labels were removed may still have the finalizer. Such a Pod is identified by its Job.
// If the Job is gone, kube-controller-manager removes the finalizer.
func (c *Client) Held(ctx context.Context, namespace string) (held []Pod, err error) {
	managed, err := c.listJobs(ctx, namespace)
	if err != nil {
		return nil, err
	}
	byOwner := make(map[plan.Owner]*batchv1.Job, len(managed))
	for i := range managed {
		byOwner[plan.OwnerFor(&managed[i])] = &managed[i]
	}
	all, err := c.listPods(ctx, namespace)
	if err != nil {
		return nil, err
	}
	for i := range all {
		pod := &corev1.Pod{ObjectMeta: all[i].ObjectMeta}
		p := Pod{Namespace: pod.Namespace, Name: pod.Name, Result: Found, uid: pod.UID, deleting: pod.DeletionTimestamp != nil}
		p.job, _ = plan.OwnerOf(pod)
		p.owner = byOwner[p.job]
		if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) && (p.owner != nil || plan.Made(pod)) {
			held = append(held, p)
		}
	}
	return held, nil
}

// Release removes the finalizers of Pods and sets their results. Pods that no longer exist count as released.
func (c *Client) Release(ctx context.Context, held []Pod) {
	var group errgroup.Group
	var mu sync.Mutex // guards Progress
	group.SetLimit(width)
	for i := range held {
		group.Go(func() error {
			p := &held[i]
			err := c.removeFinalizer(ctx, p)
			mu.Lock()
			defer mu.Unlock()
			if p.Result = Released; err != nil {
				p.Result, p.Message = Failed, err.Error()
			}
			c.Progress(1)
			return nil
		})
	}
	_ = group.Wait() // errors are recorded in the Pods
}

// removeFinalizer removes the finalizer from the Pod with this UID, regardless of other changes to it.
func (c *Client) removeFinalizer(ctx context.Context, p *Pod) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": p.uid, "$deleteFromPrimitiveList/finalizers": []string{batchv1.JobTrackingFinalizer},
	}})
	if err != nil {
		return err
	}
	_, err = c.objects.Resource(pods).Namespace(p.Namespace).Patch(ctx, p.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // a conflict means that another Pod has the name
		return nil
	}
	return err
}
