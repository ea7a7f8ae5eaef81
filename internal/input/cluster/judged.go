//go:build !js

package cluster

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// origin identifies the Job that a Pod belongs to.
type origin struct {
	namespace string
	claim     manifest.Claim
}

// maxKnownJobs is the size of a watch's cache of Jobs. The least recently used Jobs are evicted, and read again if
// needed.
const maxKnownJobs = 1000

// take passes a failed Pod to the listener, once. Pods in other phases, such as Pods deleted before they fail, get no
// verdict.
func (w *watcher) take(ctx context.Context, pod *corev1.Pod) error {
	if w.judged.Has(pod.UID) || pod.Status.Phase != corev1.PodFailed {
		return nil
	}
	claim, _ := manifest.ClaimOf(pod)
	if claim.Name == "" {
		return nil
	}
	from := origin{pod.Namespace, claim}
	job, err := w.jobFrom(ctx, from)
	if err != nil {
		return err
	}
	switch {
	case job == nil:
		if !w.first && w.selection.wantsAny(pod) {
			w.Notice(fmt.Sprintf("pod %s/%s has failed, but its job %q is no longer there: no verdict",
				pod.Namespace, pod.Name, claim.Name))
		}
	case w.selection.wants(job, pod):
		if err := w.Failed(manifest.LiveJob(job), manifest.LivePod(pod)); err != nil {
			return &stopError{err}
		}
	}
	w.judged.Insert(pod.UID)
	return nil
}

// jobFrom returns a Job, from the cache if possible, or nil if the Job no longer exists.
func (w *watcher) jobFrom(ctx context.Context, from origin) (*batchv1.Job, error) {
	if known, ok := w.jobs.Get(from); ok {
		job, _ := known.(*batchv1.Job)
		return job, nil
	}
	job, err := Get[batchv1.Job](ctx, w.batch, Job.plural(), from.namespace, from.claim.Name)
	if apierrors.IsNotFound(err) || err == nil && !from.claim.Fits(job) {
		job, err = nil, nil
	}
	if err != nil {
		return nil, w.failure(err, request{"get", Job.resource(), from.namespace})
	}
	w.jobs.Add(from, job)
	return job, nil
}
