package ecosystem

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

// podsOf returns the Pods of a Job that are not being deleted: those of an index, or all of them, by their names.
func (a *arm) podsOf(ctx context.Context, job, index string) ([]corev1.Pod, error) {
	selector := job
	if !strings.Contains(job, "=") {
		selector = batchv1.JobNameLabel + "=" + job
	}
	list, err := a.Client.CoreV1().Pods(a.namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool {
		other := index != "all" && index != "any" && pod.Annotations[batchv1.JobCompletionIndexAnnotation] != index
		return other || pod.DeletionTimestamp != nil
	}), nil
}

// each waits for the Pods of an index that are such as is said, and does something with them, with one if the index is any.
func (a *arm) each(job, index string, such func(*corev1.Pod) bool, do func(*corev1.Pod) error) error {
	var found []corev1.Pod
	err := await(a.context, fmt.Sprintf("Job %s has such Pods of index %s", job, index), func(ctx context.Context) error {
		pods, err := a.podsOf(ctx, job, index)
		if err != nil {
			return err
		}
		found = slices.DeleteFunc(pods, func(pod corev1.Pod) bool { return !such(&pod) })
		if len(found) == 0 {
			return fmt.Errorf("there are none among %d", len(pods))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if index == "any" {
		found = found[:1]
	}
	for i := range found {
		if err := do(&found[i]); err != nil {
			return err
		}
	}
	return nil
}

// runs reports whether a Pod runs and has not been told to end.
func runs(pod *corev1.Pod) bool {
	_, told := pod.Annotations[controlplane.AnnotationExitCode]
	return pod.Status.Phase == corev1.PodRunning && !told
}

func (a *arm) end(_ *testscript.TestScript, args []string) error {
	return a.each(args[0], args[1], runs, func(pod *corev1.Pod) error {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, controlplane.AnnotationExitCode, args[2])
		_, err := a.Client.CoreV1().Pods(a.namespace).Patch(a.context, pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	})
}

func (a *arm) evict(_ *testscript.TestScript, args []string) error {
	return a.each(args[0], args[1], runs, func(pod *corev1.Pod) error {
		eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name}}
		return a.Client.CoreV1().Pods(a.namespace).EvictV1(a.context, eviction)
	})
}

func (a *arm) release(_ *testscript.TestScript, args []string) error {
	gated := func(pod *corev1.Pod) bool { return len(pod.Spec.SchedulingGates) > 0 }
	return a.each(args[0], args[1], gated, func(pod *corev1.Pod) error {
		patch := []byte(`{"spec":{"schedulingGates":null}}`)
		_, err := a.Client.CoreV1().Pods(a.namespace).Patch(a.context, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})
}

func (a *arm) pods(_ *testscript.TestScript, args []string) error {
	want, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	return await(a.context, strings.Join(args, " "), func(ctx context.Context) error {
		pods, err := a.podsOf(ctx, args[0], "all")
		if err != nil {
			return err
		}
		pods = slices.DeleteFunc(pods, func(pod corev1.Pod) bool { return len(args) == 3 && string(pod.Status.Phase) != args[2] })
		if len(pods) != want {
			return fmt.Errorf("there are %d", len(pods))
		}
		return nil
	})
}
