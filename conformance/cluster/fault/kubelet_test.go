package fault

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// kubelet ends the pods of a namespace as the trials say, and watches whether all is as it should be.
type kubelet struct {
	client    kubernetes.Interface
	namespace string
	trials    map[string]trial // by name of the Job

	mu     sync.Mutex
	wrong  []string
	jobs   map[string]*batchv1.Job
	pods   map[string]*corev1.Pod
	active map[string]string // pod by Job and slot
	// created is how many pods each Job has had, madeAt how many were made for an attempt.
	created map[string]int
	madeAt  map[string]int
}

func newKubelet(client kubernetes.Interface, namespace string, trials ...trial) *kubelet {
	k := &kubelet{
		client: client, namespace: namespace, trials: map[string]trial{}, jobs: map[string]*batchv1.Job{}, pods: map[string]*corev1.Pod{},
		active: map[string]string{}, created: map[string]int{}, madeAt: map[string]int{},
	}
	for _, r := range trials {
		k.trials[r.name] = r
	}
	return k
}

// run works until the context is done.
func (k *kubelet) run(ctx context.Context) error {
	pods, err := k.client.CoreV1().Pods(k.namespace).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer pods.Stop()
	jobs, err := k.client.BatchV1().Jobs(k.namespace).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer jobs.Stop()
	for ctx.Err() == nil {
		select {
		case event, open := <-pods.ResultChan():
			if !open && ctx.Err() == nil {
				return fmt.Errorf("the watch of pods in %s has ended", k.namespace)
			}
			if pod, ok := event.Object.(*corev1.Pod); ok {
				if err := k.seePod(ctx, event.Type, pod); err != nil {
					return err
				}
			}
		case event := <-jobs.ResultChan():
			if job, ok := event.Object.(*batchv1.Job); ok {
				k.seeJob(job)
			}
		case <-ctx.Done():
		}
	}
	return nil
}

// seePod checks a pod, and ends it when it is new.
func (k *kubelet) seePod(ctx context.Context, kind watch.EventType, pod *corev1.Pod) error {
	owner := metav1.GetControllerOf(pod)
	slot, attempt, made := slotAndAttempt(pod.Name)
	if owner == nil || !made {
		return nil
	}
	k.check(kind, pod, owner.Name, slot, attempt)
	if kind != watch.Added || pod.Status.Phase != corev1.PodPending {
		return nil
	}
	pod = pod.DeepCopy()
	end(pod, k.trials[owner.Name].exitCode(slot, attempt))
	_, err := k.client.CoreV1().Pods(k.namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
		return err
	}
	return nil
}

func (k *kubelet) check(kind watch.EventType, pod *corev1.Pod, job string, slot, attempt int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := fmt.Sprintf("%s/%d", job, slot)
	if kind == watch.Added {
		k.created[job]++
		if k.madeAt[pod.Name]++; k.madeAt[pod.Name] > 1 {
			k.wrong = append(k.wrong, fmt.Sprintf("attempt %d at %s was created twice", attempt, key))
		}
		if other := k.active[key]; other != "" {
			k.wrong = append(k.wrong, fmt.Sprintf("%s was created when %s was active", pod.Name, other))
		}
		k.active[key] = pod.Name
	}
	over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || pod.DeletionTimestamp != nil || kind == watch.Deleted
	if over && k.active[key] == pod.Name {
		k.active[key] = ""
	}
	if kind == watch.Deleted {
		k.wrong = append(k.wrong, pod.Name+" was deleted")
	}
	k.pods[pod.Name] = pod
	active := 0
	for key, name := range k.active {
		if name != "" && strings.HasPrefix(key, job+"/") {
			active++
		}
	}
	if active > k.trials[job].parallelism {
		k.wrong = append(k.wrong, fmt.Sprintf("%d pods of %s are active", active, job))
	}
}

func end(pod *corev1.Pod, code int32) {
	now := metav1.NewTime(time.Now())
	pod.Status.Phase = corev1.PodFailed
	if code == 0 {
		pod.Status.Phase = corev1.PodSucceeded
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: "main", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, StartedAt: now, FinishedAt: now},
	}}}
}

// seeJob holds the counters to never going back, and the end to being the end.
func (k *kubelet) seeJob(job *batchv1.Job) {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.jobs[job.Name]
	k.jobs[job.Name] = job
	if old == nil {
		return
	}
	if job.Status.Failed < old.Status.Failed || job.Status.Succeeded < old.Status.Succeeded {
		k.wrong = append(k.wrong, fmt.Sprintf("%s: counters go back from %+v to %+v", job.Name, old.Status, job.Status))
	}
	if ended(old) && old.Status.String() != job.Status.String() {
		k.wrong = append(k.wrong, job.Name+" changes after its end")
	}
}

// settled tells whether a Job has ended and its pods are let go.
func (k *kubelet) settled(job string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.jobs[job] == nil || !ended(k.jobs[job]) {
		return false
	}
	for _, pod := range k.pods {
		if owner := metav1.GetControllerOf(pod); owner.Name == job && slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			return false
		}
	}
	return true
}
