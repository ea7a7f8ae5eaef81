//go:build cluster

package controller_test

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/controller/internal/fixtures"
	"github.com/podverdict/podverdict/internal/controlplane"
)

// kube-controller-manager runs a Job, and its failed pods get events that the real API server takes.
func TestVerdictEventsOfOthers(t *testing.T) {
	cluster := controlplane.Start(t, controlplane.ControllerManager)
	client, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	kubelet := node{client, cluster.Namespace(t)}
	job := fixtures.ManagedJob(2)
	job.Spec.ManagedBy, job.Spec.PodFailurePolicy = nil, fixtures.FailJobOn(42)
	job.Spec.PodFailurePolicy.Rules[0].Action = batchv1.PodFailurePolicyActionFailIndex
	if _, err := client.BatchV1().Jobs(kubelet.namespace).Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"FailIndex": "FailIndex by rule 0: container main exited with 42",
		"Count":     "Count: no rule matches: rule 0: no container has failed with an exit code in [42]",
	}
	started(t, cluster.Config)
	for _, event := range verdictEvents(t, kubelet, len(want)) {
		if event.Note != want[event.Action] || event.Related.Name != job.Name {
			t.Errorf("the event is %+v", event)
		}
	}
}

// verdictEvents waits until each pod of the first two has failed and has an event.
func verdictEvents(t *testing.T, kubelet node, count int) (found []eventsv1.Event) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := kubelet.end(ctx, func(pod *corev1.Pod) int32 {
			if pod.Annotations[batchv1.JobCompletionIndexAnnotation] == "0" {
				return 42
			}
			return 1
		})
		if err != nil {
			return false, err
		}
		list, err := kubelet.EventsV1().Events(kubelet.namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=PodFailureVerdict"})
		found = list.Items
		return err == nil && len(found) >= count, err
	})
	if err != nil {
		t.Fatalf("%v; the events are %+v", err, found)
	}
	return found
}
