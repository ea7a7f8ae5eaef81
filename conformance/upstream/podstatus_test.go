package upstream

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/kubelet/status"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
	"github.com/podverdict/podverdict/internal/kube/restart"
)

// TestStatusesAreUpstreams tests that each text in the table of Pod statuses is in Kubernetes, at the line given in the
// table.
func TestStatusesAreUpstreams(t *testing.T) {
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").Output()
	if err != nil {
		t.Fatal(err)
	}
	var table map[string][]struct {
		Module, File, Text string
		Line               int
	}
	data, err := os.ReadFile("../../internal/kube/podstatus/testdata/sources.json")
	if err == nil {
		err = json.Unmarshal(data, &table)
	}
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]string{}
	for cause, sources := range table {
		for _, source := range sources {
			if source.Module != "" {
				continue // from a container runtime, which this module does not link
			}
			if files[source.File] == nil {
				data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), filepath.FromSlash(source.File)))
				if err != nil {
					t.Errorf("%s: %v", cause, err)
				}
				files[source.File] = strings.Split(string(data), "\n")
			}
			if lines := files[source.File]; source.Line < 1 || source.Line > len(lines) || !strings.Contains(lines[source.Line-1], source.Text) {
				t.Errorf("%s: %q is not at line %d of %s", cause, source.Text, source.Line, source.File)
			}
		}
	}
	if len(files) < 20 {
		t.Errorf("%d files", len(files))
	}
}

// TestConditions compares the conditions of Pods with those that the kubelet generates.
func TestConditions(t *testing.T) {
	eachVersion(t, 1_000_000, func(t *testing.T, g *restartPods, gates restart.Gates) {
		t.Helper()
		pod := &corev1.Pod{Spec: *g.pod()}
		pod.Status.Phase = some(g, corev1.PodPending, corev1.PodRunning, corev1.PodFailed, corev1.PodSucceeded)
		if gates.AllContainers && g.IntN(2) == 0 { // in earlier versions, a Pod could lose the condition
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodInitialized, Status: corev1.ConditionTrue}}
		}
		for _, c := range podstatus.Containers(pod) {
			c.Set(g.state())
		}
		before := pod.DeepCopy()
		all := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
		theirs := []corev1.PodCondition{
			{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue},
			status.GeneratePodInitializedCondition(before, &before.Status, all, before.Status.Phase),
			status.GeneratePodReadyCondition(before, &before.Status, nil, all, before.Status.Phase),
			status.GenerateContainersReadyCondition(before, &before.Status, all, before.Status.Phase),
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
		}
		podstatus.Report(pod, podstatus.SandboxReady, metav1.Time{})
		if diff := cmp.Diff(theirs, pod.Status.Conditions); diff != "" {
			t.Fatalf("(-upstream +ours)\n%s\n%s", diff, text(&pod.Spec))
		}
		g.count(string(theirs[1].Status) + string(theirs[2].Status) + theirs[1].Reason + theirs[2].Reason)
	})
}
