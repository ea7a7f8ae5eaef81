package controller

import (
	"context"
	"errors"
	"fmt"
	"net"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientfeatures "k8s.io/client-go/features"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

func errNotReady() error { return errors.New("the caches are not filled yet") }

func errFeature(feature clientfeatures.Feature) error {
	return fmt.Errorf("the feature %s of client-go is off: without it caches do not say how new they are", feature)
}

func errPolicy(err error) error {
	return fmt.Errorf("podFailurePolicy has no meaning, the job waits: %w", err)
}

func errRelease(pod *corev1.Pod, err error) error {
	return fmt.Errorf("remove the finalizer of pod %s/%s: %w", pod.Namespace, pod.Name, err)
}

func errDelete(pod *corev1.Pod, err error) error {
	return fmt.Errorf("delete pod %s/%s: %w", pod.Namespace, pod.Name, err)
}

func errCondition(pod *corev1.Pod, err error) error {
	return fmt.Errorf("set the condition %s of pod %s/%s: %w", v1alpha1.FailingToStart, pod.Namespace, pod.Name, err)
}

func errCreate(pod *corev1.Pod, err error) error {
	return fmt.Errorf("create pod %s/%s: %w", pod.Namespace, pod.Name, err)
}

func errLookUp(namespace, name string, err error) error {
	return fmt.Errorf("look up pod %s/%s: %w", namespace, name, err)
}

func errWrite(job *batchv1.Job, err error) error {
	return fmt.Errorf("write the status of job %s/%s: %w", job.Namespace, job.Name, err)
}

func errNoJob(pod *corev1.Pod) error {
	return fmt.Errorf("the job of pod %s/%s is not there", pod.Namespace, pod.Name)
}

func errTell(event *eventsv1.Event, err error) error {
	return fmt.Errorf("create event %s of %s %s/%s: %w", event.Name, event.Regarding.Kind, event.Namespace, event.Regarding.Name, err)
}

func errWriteStatus(o v1alpha1.Object, err error) error {
	return fmt.Errorf("write the status of %s %s: %w", o.GetObjectKind().GroupVersionKind().Kind, o.GetName(), err)
}

func errNamespace(job *batchv1.Job) error {
	return fmt.Errorf("the namespace of job %s/%s is not known yet", job.Namespace, job.Name)
}

func errPartial(o metav1.Object) error {
	if excessive(o) {
		return fmt.Errorf("%s/%s has more than %d labels and annotations: rules are not asked about it", o.GetNamespace(), o.GetName(), maxPairs)
	}
	return fmt.Errorf("what rules read of %s/%s is not known yet", o.GetNamespace(), o.GetName())
}

func errElection(err error) error { return fmt.Errorf("leader election: %w", err) }

func errLeaseLost(e Election, err error) error {
	lost := fmt.Errorf("the lease %s/%s is lost: it was not renewed for %s, or another replica has it", e.Namespace, e.Name, e.RenewDeadline)
	if err == nil || errors.Is(err, context.Canceled) {
		return lost
	}
	return fmt.Errorf("%w; %w", lost, err)
}

func errPreflight(err error) error { return fmt.Errorf("check permissions: %w", err) }

func errReview(err error) error { return fmt.Errorf("review a request: %w", err) }

func errServe(address net.Addr, err error) error {
	return fmt.Errorf("serve HTTP at %s: %w", address, err)
}
