package caches

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/internal/history"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
)

// wordyPod returns a pod with all fields that are written to the history, and messages that exceed its limits.
func wordyPod() *corev1.Pod {
	pod := fullPod(corev1.PodFailed, nil)
	maps.Copy(pod.Annotations, map[string]string{"example.com/notes": "n", "cluster.k8s.io/a": "a"})
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8")}
	pod.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
	pod.Status.Message = strings.Repeat("äöü", 1000)
	pod.Status.ContainerStatuses[0].State.Terminated.Message = strings.Repeat("x", 4096)
	pod.Status.Conditions[2].Message += strings.Repeat("x", 1000) // written by podverdict
	return pod
}

// TestKeepHistory checks that a history line for a cached object equals the line for the complete object, and that the other cached fields
// are the same as without history.
func TestKeepHistory(t *testing.T) {
	message := custom.Reads{Pod: cel.NewFields("ContainerStateTerminated.message"), Job: cel.NewFields("ObjectMeta.annotations")}
	for name, reads := range map[string]custom.Reads{"nothing": custom.NewReads(), "messages": message, "everything": fixtures.Everything} {
		caching, without := newCaching(true), newCaching(true)
		caching.keepHistory()
		caching.keep(reads)
		without.keep(reads)
		job := fixtures.OthersJob(fixtures.FailJobOn(1))
		job.Annotations = map[string]string{"batch.kubernetes.io/cronjob-scheduled-timestamp": "t", "example.com/notes": "n"}
		job.Spec.Template.Spec = *wordyPod().Spec.DeepCopy()
		wholeJob := job.DeepCopy()
		caching.trimJob(job)
		if diff := cmp.Diff(history.Job(wholeJob), history.Job(job)); diff != "" {
			t.Errorf("rules read %s: the line of the Job differs (-want +got):\n%s", name, diff)
		}
		whole := wordyPod()
		pod, plain := whole.DeepCopy(), whole.DeepCopy()
		caching.trimPod(pod)
		if diff := cmp.Diff(history.Pod(whole), history.Pod(pod)); diff != "" {
			t.Errorf("rules read %s: the line of the pod differs (-want +got):\n%s", name, diff)
		}
		if length, reads := len(pod.Status.ContainerStatuses[0].State.Terminated.Message), name != "nothing"; length > history.MaxMessage != reads {
			t.Errorf("rules read %s: a message has %d bytes", name, length)
		}
		if len(pod.Spec.Containers[0].Env) > 0 != (name == "everything") || job.Annotations["example.com/notes"] != "" != (name != "nothing") {
			t.Errorf("rules read %s: too much is kept: %v %v", name, pod.Spec.Containers, job.Annotations)
		}
		without.trimPod(plain)
		pod.ManagedFields, plain.ManagedFields = nil, nil
		without.trimPod(pod)
		pod.ManagedFields, plain.ManagedFields = nil, nil
		if diff := cmp.Diff(plain, pod); diff != "" {
			t.Errorf("rules read %s: the pod differs (-want +got):\n%s", name, diff)
		}
	}
}

// TestKeepHistoryOfPodsThatRun checks that pods that have not failed need no additional memory for history.
func TestKeepHistoryOfPodsThatRun(t *testing.T) {
	caching, without := newCaching(true), newCaching(true)
	caching.keepHistory()
	got, want := fullPod(corev1.PodRunning, nil), fullPod(corev1.PodRunning, nil)
	caching.trimPod(got)
	without.trimPod(want)
	if diff := cmp.Diff(want, got, cmpopts.EquateApproxTime(time.Minute)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestMemoryOfHistory measures the memory needed for history. The objects are the same as in TestMemory.
func TestMemoryOfHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory")
	}
	const pods = 5000
	kept := func(keep func(*caching)) float64 {
		return cachedBytes(t, pods, custom.NewReads(), func(i int) any { return readPod(t, largePod(i/10, i, corev1.PodFailed)) }, keep)
	}
	without, with := kept(func(*caching) {}), kept((*caching).keepHistory)
	t.Logf("a failed pod takes %.0f bytes, with history %.0f", without, with)
	if with > 2.5*without {
		t.Errorf("a failed pod takes %.0f bytes with history, %.0f without", with, without)
	}
}
