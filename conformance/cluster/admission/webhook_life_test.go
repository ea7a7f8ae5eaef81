//go:build cluster

package admission

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

func jsonOf(patch map[string]any) ([]byte, error) {
	if patch == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(patch)
}

// lives runs the lives of Jobs that are older than the webhook: the Job controller writes their status, and they can be
// changed and deleted.
func (w *webhook) lives(t *testing.T, namespace string) {
	t.Helper()
	for _, propagation := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(propagation), func(t *testing.T) {
			name := oldJob(propagation)
			for _, patch := range []string{
				`{"metadata": {"labels": {"a": "b"}}}`,
				`{"metadata": {"annotations": {"a": "b"}}}`,
				`{"spec": {"suspend": false}}`,
			} {
				w.patch(t, namespace, name, patch)
			}
			w.awaitStatus(t, namespace, name, "active", func(job *unstructured.Unstructured) bool { return count(job, "active") == 1 })
			w.patch(t, namespace, name, `{"spec": {"suspend": true}}`)
			w.awaitStatus(t, namespace, name, "suspended", func(job *unstructured.Unstructured) bool { return count(job, "active") == 0 })
			if err := w.jobs(namespace).Delete(t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &propagation}); err != nil {
				t.Fatal(err)
			}
			w.release(t, namespace, name)
			testcluster.Eventually(t, "the Job goes", func(ctx context.Context) (bool, error) {
				_, err := w.jobs(namespace).Get(ctx, name, metav1.GetOptions{})
				return apierrors.IsNotFound(err), nil
			})
		})
	}
}

// oldJob returns the name of a Job created before the webhook.
func oldJob(propagation metav1.DeletionPropagation) string {
	return "old-" + strings.ToLower(string(propagation))
}

// storeOldJobs creates Jobs that break a rule unrelated to the number of their Pods.
func (w *webhook) storeOldJobs(t *testing.T, namespace string, bad map[string]any) {
	t.Helper()
	for _, propagation := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		object := patched(t, bad, map[string]any{"spec": map[string]any{"parallelism": 1, "activeDeadlineSeconds": 3600}})
		if _, err := w.create(t.Context(), namespace, oldJob(propagation), object); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *webhook) jobs(namespace string) dynamic.ResourceInterface {
	return w.resource(namespace, map[string]any{"kind": "Job"})
}

func (w *webhook) patch(t *testing.T, namespace, name, patch string) {
	t.Helper()
	if _, err := w.jobs(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatalf("%s: %v", patch, err)
	}
}

// release removes the finalizer that holds a Job.
func (w *webhook) release(t *testing.T, namespace, name string) {
	t.Helper()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		job, err := w.jobs(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		job.SetFinalizers(slices.DeleteFunc(job.GetFinalizers(), func(f string) bool { return f == "example.com/held" }))
		_, err = w.jobs(namespace).Update(t.Context(), job, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (w *webhook) awaitStatus(t *testing.T, namespace, name, what string, reached func(*unstructured.Unstructured) bool) {
	t.Helper()
	testcluster.Eventually(t, "the controller writes that the Job is "+what, func(ctx context.Context) (bool, error) {
		job, err := w.jobs(namespace).Get(ctx, name, metav1.GetOptions{})
		return err == nil && reached(job), err
	})
}

func count(job *unstructured.Unstructured, field string) int64 {
	n, _, _ := unstructured.NestedInt64(job.Object, "status", field)
	return n
}

// outlives checks that without a server new objects are rejected, and existing ones can be deleted.
func (w *webhook) outlives(t *testing.T, namespace string, all []request) {
	t.Helper()
	for _, name := range []string{"a good Job is let in", "one of several faults is mended"} {
		i := slices.IndexFunc(all, func(r request) bool { return r.Name == name })
		if err := w.send(t.Context(), namespace, nameOf(i), all[i]); !apierrors.IsInternalError(err) {
			t.Errorf("%s: %v, want that the webhook cannot be asked", name, err)
		}
	}
	for _, name := range []string{"labels", "finalizers", "a Job is deleted", "a Job that is being deleted loses its finalizer"} {
		i := slices.IndexFunc(all, func(r request) bool { return r.Name == name })
		if err := w.send(t.Context(), namespace, nameOf(i), all[i]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
