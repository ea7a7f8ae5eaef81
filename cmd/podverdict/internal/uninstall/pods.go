package uninstall

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
)

// Pod is a Pod with the controller's finalizer.
type Pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Result is Found, Released or Failed.
	Result string `json:"result"`
	// Message says what has failed.
	Message string `json:"message,omitempty"`

	uid      types.UID
	deleting bool         // the Pod is
	job      plan.Owner   // none when it is zero
	owner    *batchv1.Job // as it is in the cluster; nil when it is gone
}

// held returns the Pods of a namespace, or of all, that the controller made and that have its finalizer, and the managed Jobs.
//
// It looks at all Pods, as metadata: a Pod whose labels were removed may still have the finalizer. Such a Pod is known by its Job,
// unless that is gone; then kube-controller-manager removes the finalizer.
func (c *Client) held(ctx context.Context, namespace string) (held []Pod, managed []batchv1.Job, err error) {
	managed, err = c.listJobs(ctx, namespace)
	if err != nil {
		return nil, nil, err
	}
	byOwner := make(map[plan.Owner]*batchv1.Job, len(managed))
	for i := range managed {
		byOwner[plan.OwnerFor(&managed[i])] = &managed[i]
	}
	all, err := c.list(ctx, pods, namespace, "")
	if err != nil {
		return nil, nil, err
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
	return held, managed, nil
}

// release removes the finalizers of Pods, and sets their results. Pods that are gone count as released.
func (c *Client) release(ctx context.Context, held []Pod) {
	var group errgroup.Group
	var mu sync.Mutex // of the progress
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
	_ = group.Wait() // the Pods have the errors
}

// removeFinalizer removes the finalizer from the Pod with that UID, whatever else has changed.
func (c *Client) removeFinalizer(ctx context.Context, p *Pod) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": p.uid, "$deleteFromPrimitiveList/finalizers": []string{batchv1.JobTrackingFinalizer},
	}})
	if err != nil {
		return err
	}
	_, err = c.objects.Resource(pods).Namespace(p.Namespace).Patch(ctx, p.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // another Pod has the name
		return nil
	}
	return err
}
