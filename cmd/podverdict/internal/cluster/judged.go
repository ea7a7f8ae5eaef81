//go:build !js

package cluster

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
)

// origin is the Job that a Pod says it belongs to.
type origin struct {
	namespace string
	claim     manifest.Claim
}

// knownJob is a Job that need not be read again; nil when it is gone.
type knownJob struct {
	job    *batchv1.Job
	pods   int  // those of judged; without any it is forgotten,
	pinned bool // unless the query names it
}

// take passes a Pod that has failed to the listener, once. Pods in other phases, such as those deleted before they fail,
// have no verdict.
func (w *watcher) take(ctx context.Context, pod *corev1.Pod) error {
	if _, done := w.judged[pod.UID]; done || pod.Status.Phase != corev1.PodFailed {
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
	w.judged[pod.UID] = from
	w.jobs[from].pods++
	return nil
}

// forget drops a Pod that no longer exists, so that a long watch does not fill the memory.
func (w *watcher) forget(pod types.UID) {
	from, ok := w.judged[pod]
	if !ok {
		return
	}
	delete(w.judged, pod)
	known := w.jobs[from]
	if known.pods--; known.pods == 0 && !known.pinned {
		delete(w.jobs, from)
	}
}

// jobFrom reads a Job, unless it is known; nil is one that is gone.
func (w *watcher) jobFrom(ctx context.Context, from origin) (*batchv1.Job, error) {
	if known, ok := w.jobs[from]; ok {
		return known.job, nil
	}
	job, err := Get[batchv1.Job](ctx, w.batch, Job.plural(), from.namespace, from.claim.Name)
	if apierrors.IsNotFound(err) || err == nil && !from.claim.Fits(job) {
		job, err = nil, nil
	}
	if err != nil {
		return nil, w.failure(err, request{"get", Job.resource(), from.namespace})
	}
	w.jobs[from] = &knownJob{job: job}
	return job, nil
}
