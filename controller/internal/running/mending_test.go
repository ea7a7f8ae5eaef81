package running

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
)

const (
	oomed  = `{"gpu/oom":{"memory":{"factor":"2","max":"8Gi"},"oomKilled":{"main":1}}}`
	onNode = `{"gpu/node":{"avoidNode":"Preferred","nodes":["n1"]}}`
)

// failedWith returns a managed Job whose pods have failed, each with the given retries to pass on.
func failedWith(t *testing.T, labels map[string]string, retries ...string) *testJob {
	t.Helper()
	job := fixtures.ManagedJob(int32(len(retries)))
	job.Labels, job.Spec.BackoffLimitPerIndex = labels, new(int32(9))
	job.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	d := newTestJob(t, job)
	for i, failed := range plan.Next(plan.Observation{Job: job, Now: d.now.Now()}).Create {
		failed.UID, failed.ResourceVersion, failed.Status.Phase = types.UID(failed.Name), "2", corev1.PodFailed
		failed.CreationTimestamp = metav1.NewTime(d.now.Now().Add(-time.Hour))
		if retries[i] != "" {
			metav1.SetMetaDataAnnotation(&failed.ObjectMeta, plan.RetryAnnotation, retries[i])
		}
		fixtures.Put(t, d.Caches.Pods.Add(failed))
	}
	return d
}

// TestMendedPodsAreRecorded checks that one event describes the changes to all created pods, and that it is a Warning if Kueue admitted the
// Job with less memory.
func TestMendedPodsAreRecorded(t *testing.T) {
	const (
		memory = "memory of main: limit 1Gi -> 2Gi (oom of policy gpu, 1 match)"
		grown  = "Created 2 pods: train-0-r44rf, train-2-frjt9. Retry: " + memory
		moved  = "Created pod: train-1-lwbct. Retry: avoids n1 (preferred)"
	)
	queued := map[string]string{"kueue.x-k8s.io/queue-name": "team"}
	for name, test := range map[string]struct {
		labels  map[string]string
		retries []string
		want    []string
	}{
		"none":            {queued, []string{"", ""}, []string{}},
		"several":         {nil, []string{oomed, onNode, oomed, ""}, []string{"Normal RetryMended " + moved + ". " + grown}},
		"a queue":         {queued, []string{oomed, "", oomed}, []string{"Normal RetryMended " + grown, "Warning RetryBeyondAdmission Queue team admitted the Job with the memory of its template, which is less. " + grown}},
		"a queue, a node": {queued, []string{"", onNode}, []string{"Normal RetryMended " + moved}},
	} {
		t.Run(name, func(t *testing.T) {
			d := failedWith(t, test.labels, test.retries...)
			d.syncs(t)
			told := slices.DeleteFunc(d.recorded(), func(event string) bool { return !strings.Contains(event, " Retry") })
			if diff := cmp.Diff(test.want, told); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRefusedMemory checks that a creation rejected by a LimitRange is retried with the same memory. The event begins with the values.
func TestRefusedMemory(t *testing.T) {
	d := failedWith(t, nil, oomed)
	d.refuse("create", "pods", apierrors.NewForbidden(podResource, "x", errors.New("maximum memory usage per Container is 1Gi")))
	for range 2 {
		if _, err := d.sync(t.Context(), d.key); !apierrors.IsForbidden(err) {
			t.Fatalf("the error is %v", err)
		}
		const want = `Warning FailedCreate Error creating: memory of main: limit 1Gi -> 2Gi (oom of policy gpu, 1 match): pods "x" is forbidden: maximum memory usage per Container is 1Gi`
		if told := d.recorded(); !slices.Contains(told, want) {
			t.Errorf("told is %q, want %q", told, want)
		}
	}
	d.api.ReactionChain = d.api.ReactionChain[1:]
	d.syncs(t)
	pods, err := d.api.CoreV1().Pods("ns").List(t.Context(), metav1.ListOptions{})
	fixtures.Put(t, err)
	if len(pods.Items) != 1 || pods.Items[0].Spec.Containers[0].Resources.Limits.Memory().String() != "2Gi" {
		t.Errorf("the pods are %v", pods.Items)
	}
}

// TestRefusedMemoryHoldsNobodyUp checks that a rejected retry does not prevent other pods from being created.
func TestRefusedMemoryHoldsNobodyUp(t *testing.T) {
	const tooMuch = `{"gpu/oom":{"memory":{"factor":"10","max":"80Gi"},"oomKilled":{"main":1}}}`
	d := failedWith(t, nil, tooMuch, oomed, tooMuch, "", oomed, "")
	created := map[string]bool{}
	d.answer("create", "pods", func(a clienttesting.Action) (apiruntime.Object, error) {
		pod := a.(clienttesting.CreateAction).GetObject().(*corev1.Pod).DeepCopy()
		pod.UID, pod.ResourceVersion = types.UID(pod.Name), "10"
		if pod.Spec.Containers[0].Resources.Limits.Memory().Cmp(resource.MustParse("2Gi")) > 0 {
			return nil, apierrors.NewForbidden(podResource, pod.Name, errors.New("maximum memory usage per Container is 2Gi"))
		}
		created[pod.Name] = true
		fixtures.Put(t, d.Caches.Pods.Add(pod))
		return pod, nil
	})
	for range 20 {
		_, _ = d.sync(t.Context(), d.key) // rejections are expected
	}
	if len(created) != 4 {
		t.Errorf("created are %v, want the 4 that nobody refuses", created)
	}
}
