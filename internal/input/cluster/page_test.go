package cluster

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func podNames(t *testing.T, c *Cluster) []string {
	t.Helper()
	found, err := c.JobsWithPods(t.Context(), Query{Targets: []Target{{Kind: Job}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Jobs) != 1 {
		t.Fatalf("%d Jobs", len(found.Jobs))
	}
	var names []string
	for _, pod := range found.Pods {
		names = append(names, pod.Object.Name)
	}
	return names
}

func TestPages(t *testing.T) {
	s := newServer(t, map[string][]answer{
		"list jobs": {jobs(*demo())},
		"list pods": {pods("7", "next", failed("a", "1"), failed("b", "2")), pods("7", "", failed("c", "3"))},
	})
	c := s.cluster(t)
	read := 0
	c.Progress = func(n int) { read += n }
	if diff := cmp.Diff([]string{"a", "b", "c"}, podNames(t, c)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want := []string{
		"list pods?labelSelector=batch.kubernetes.io%2Fcontroller-uid+in+%28demo-uid%29&limit=500",
		"list pods?continue=next&labelSelector=batch.kubernetes.io%2Fcontroller-uid+in+%28demo-uid%29&limit=500",
	}
	if diff := cmp.Diff(want, s.asked("list pods")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if read != 4 {
		t.Errorf("progress tells of %d objects, want 4", read)
	}
}

// TestPagesExpire checks that earlier pages are discarded if the list expires on the API server between two pages.
func TestPagesExpire(t *testing.T) {
	s := newServer(t, map[string][]answer{
		"list jobs": {jobs(*demo())},
		"list pods": {
			pods("7", "next", failed("a", "1"), failed("deleted since", "2")), refuse(http.StatusGone, metav1.StatusReasonExpired),
			pods("9", "", failed("a", "1"), failed("b", "8")),
		},
	})
	if diff := cmp.Diff([]string{"a", "b"}, podNames(t, s.cluster(t))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
