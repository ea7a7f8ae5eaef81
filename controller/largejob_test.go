package controller_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestLargeJob checks that a Job whose template is not cached runs like any other: its pods have the complete template, rules see the
// fields they read, and writes of the Job remove nothing from it.
func TestLargeJob(t *testing.T) {
	const text = 5000
	inWorld(t, func(w *world) {
		w.apply(customPolicy("gpu", rule("r",
			"job.spec.template.spec.containers.exists(c, c.image == 'train') && job.spec.scheduling.schedulingPolicy.gang.minCount == attempt - 1", failJob)), bind("gpu"))
	}, func(w *world) {
		job := managed(1, completions(1), backoffLimit(6))
		job.Annotations = map[string]string{"example.com/note": strings.Repeat("n", text)}
		job.Spec.Template.Spec.Containers[0].Image = "train"
		job.Spec.Scheduling = &batchv1.JobSchedulingConfiguration{SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{
			Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{MinCount: new(int32(1))},
		}}
		job.Spec.Template.Annotations = map[string]string{"example.com/a": "b"}
		for i := range 20 {
			job.Spec.Template.Spec.Containers[0].Env = append(job.Spec.Template.Spec.Containers[0].Env,
				corev1.EnvVar{Name: "E" + strconv.Itoa(i), Value: strings.Repeat("v", text)})
		}
		w.run(job)
		before := w.server.Job(namespace, jobName)
		for range 2 {
			pod := w.fail(1)
			if diff := cmp.Diff(job.Spec.Template.Spec.Containers, pod.Spec.Containers); diff != "" {
				w.t.Errorf("the containers of %s (-want +got):\n%s", pod.Name, diff)
			}
			if pod.Annotations["example.com/a"] != "b" || pod.Labels[batchv1.JobNameLabel] != jobName {
				w.t.Errorf("%s lacks what the template has: %v, %v", pod.Name, pod.Annotations, pod.Labels)
			}
		}
		w.expectJob("failed 2, PodFailurePolicy: Pod ns/train-kz8h6 matching FailJob rule r of PodFailurePolicy gpu")
		after := w.server.Job(namespace, jobName)
		if diff := cmp.Diff(before.Spec, after.Spec); diff != "" {
			w.t.Errorf("the spec has changed (-before +after):\n%s", diff)
		}
		if !maps.Equal(job.Annotations, map[string]string{"example.com/note": after.Annotations["example.com/note"]}) {
			w.t.Errorf("the annotations are %v", after.Annotations)
		}
	})
}

// TestTooManyLabels checks that a Job with too many labels and annotations is not run, and that an event reports it.
func TestTooManyLabels(t *testing.T) {
	inWorld(t, nothing, func(w *world) {
		job := managed(1, completions(1), backoffLimit(6))
		job.Labels = map[string]string{}
		for i := range 1001 {
			job.Labels[strconv.Itoa(i)] = ""
		}
		w.run(job)
		w.expectNotes("Job", "Warning TooManyLabels: the Job has more than 1000 labels and annotations, and is not run")
		if pods := w.server.Pods(); len(pods) > 0 {
			w.t.Errorf("it has %d pods", len(pods))
		}
		w.server.ChangeJob(namespace, jobName, func(job *batchv1.Job) { delete(job.Labels, "0") })
		w.pass(time.Minute)
		if pods := w.server.Pods(); len(pods) != 1 {
			w.t.Fatalf("with 1000 of them it has %d pods", len(pods))
		}
		w.server.ChangeJob(namespace, jobName, func(job *batchv1.Job) {
			job.Labels["0"], job.Finalizers = "", []string{metav1.FinalizerDeleteDependents}
			job.DeletionTimestamp = new(metav1.Now())
		})
		w.end(w.server.Pods()[0], 1)
		w.pass(time.Minute)
		for _, pod := range w.server.Pods() {
			if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
				w.t.Errorf("the Job is being deleted, and %s keeps its finalizer", pod.Name)
			}
		}
	})
}
