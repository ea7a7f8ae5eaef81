package testcluster

import (
	"context"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// Container is the name of the only container in a Pod of NewJob.
const Container = "main"

// NewJob returns a Job whose Pods have one container and are not restarted. change, if not nil, completes its spec.
func NewJob(name string, change func(*batchv1.JobSpec)) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}}
	job.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: Container, Image: "image"}},
	}
	if change != nil {
		change(&job.Spec)
	}
	return job
}

// ManagedJob is NewJob for a Job run by podverdict's controller.
func ManagedJob(name string, change func(*batchv1.JobSpec)) *batchv1.Job {
	return NewJob(name, func(spec *batchv1.JobSpec) {
		spec.ManagedBy = new(v1alpha1.JobController)
		if change != nil {
			change(spec)
		}
	})
}

// Indexed makes a Job Indexed.
func Indexed(spec *batchv1.JobSpec, completions, parallelism int32) {
	spec.CompletionMode, spec.Completions, spec.Parallelism = new(batchv1.IndexedCompletion), &completions, &parallelism
}

// OnExitCodes returns a rule on exit codes of any container.
func OnExitCodes(action batchv1.PodFailurePolicyAction, codes ...int32) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
		Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes,
	}}
}

// RestartInPlace makes the container of a Job's Pods restart in place when it exits with the code (KEP-5307).
func RestartInPlace(spec *batchv1.JobSpec, code int32) {
	container := &spec.Template.Spec.Containers[0]
	container.RestartPolicy = new(corev1.ContainerRestartPolicyNever)
	container.RestartPolicyRules = []corev1.ContainerRestartRule{{
		Action: corev1.ContainerRestartRuleActionRestart, ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{
			Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{code},
		},
	}}
}

// Finished returns the true condition Complete or Failed of a Job, or nil.
func Finished(job *batchv1.Job) *batchv1.JobCondition {
	for i, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return &job.Status.Conditions[i]
		}
	}
	return nil
}

// HasCondition reports whether a condition of a Pod is true.
func HasCondition(pod *corev1.Pod, of corev1.PodConditionType) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == of && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// WatchPods calls see for each event of the Pods of a namespace, one after the other, until the test ends. The test fails
// if the watch breaks.
func WatchPods(t testing.TB, client kubernetes.Interface, namespace string, see func(watch.EventType, *corev1.Pod)) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	pods := client.CoreV1().Pods(namespace)
	list, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	source := cache.ToWatcherWithContext(&cache.ListWatch{WatchFuncWithContext: pods.Watch})
	watching, err := watchtools.NewRetryWatcherWithContext(ctx, list.ResourceVersion, source) // the API server closes the watch of a slow machine
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() {
		stop()
		<-ended
	})
	go func() {
		defer close(ended)
		for event := range watching.ResultChan() {
			if pod, ok := event.Object.(*corev1.Pod); ok {
				see(event.Type, pod)
			} else if ctx.Err() == nil {
				t.Errorf("the watch ends with %v", event.Object)
			}
		}
		if ctx.Err() == nil {
			t.Error("the watch has ended")
		}
	}()
}
