package cluster

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pageSize is how many objects are asked for at once, as kubectl does.
const pageSize = 500

// listed is a whole list, and the resource version that it shows.
type listed[T any] struct {
	items   []T
	version string
}

// readPages reads a list page by page. Between two pages the API server may forget the version that the first one
// shows: the list is then read anew, in one piece.
func readPages[T any, L metav1.ListInterface](
	ctx context.Context, progress func(int), options metav1.ListOptions,
	read func(context.Context, metav1.ListOptions) (L, error), items func(L) []T,
) (listed[T], error) {
	var all listed[T]
	options.Limit = pageSize
	for {
		page, err := read(ctx, options)
		if apierrors.IsResourceExpired(err) && options.Continue != "" {
			all.items, options.Continue, options.Limit = nil, "", 0
			continue
		}
		if err != nil {
			return listed[T]{}, err
		}
		all.items = append(all.items, items(page)...)
		all.version = page.GetResourceVersion()
		progress(len(items(page)))
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return all, nil
		}
	}
}

func (c *Cluster) listJobs(ctx context.Context, namespace, selector string) ([]batchv1.Job, error) {
	all, err := readPages(ctx, c.Progress, metav1.ListOptions{LabelSelector: selector}, c.batch.Jobs(namespace).List,
		func(l *batchv1.JobList) []batchv1.Job { return l.Items })
	return all.items, c.failure(err, request{"list", "jobs.batch", namespace})
}

func (c *Cluster) listCronJobs(ctx context.Context, namespace, selector string) ([]batchv1.CronJob, error) {
	all, err := readPages(ctx, c.Progress, metav1.ListOptions{LabelSelector: selector}, c.batch.CronJobs(namespace).List,
		func(l *batchv1.CronJobList) []batchv1.CronJob { return l.Items })
	return all.items, c.failure(err, request{"list", "cronjobs.batch", namespace})
}

func (c *Cluster) listPods(ctx context.Context, namespace string, options metav1.ListOptions) (listed[corev1.Pod], error) {
	all, err := readPages(ctx, c.Progress, options, c.core.Pods(namespace).List,
		func(l *corev1.PodList) []corev1.Pod { return l.Items })
	return all, c.failure(err, request{"list", "pods", namespace})
}
