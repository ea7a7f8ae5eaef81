//go:build cluster

package living

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// TestRetries runs all Jobs at the same time.
func TestRetries(t *testing.T) {
	w := newRetrying(t)
	t.Run("all", func(t *testing.T) {
		t.Run("growths", func(t *testing.T) {
			t.Parallel()
			w.testGrowths(t)
		})
		t.Run("without the rule", func(t *testing.T) {
			t.Parallel()
			w.testWithout(t)
		})
		for _, r := range refusals {
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				w.testRefusal(t, r)
			})
		}
		t.Run("nodes", func(t *testing.T) {
			t.Parallel()
			w.testNodes(t)
		})
	})
}

// testNodes tests that each attempt gets a node on which the index has not failed, and waits if no such node exists.
func (w *retrying) testNodes(t *testing.T) {
	t.Helper()
	const good = "node-d"
	namespace, witness := w.namespace(t, func(pod *corev1.Pod) testcluster.Act {
		if pod.Spec.NodeName != good {
			return testcluster.Act{Ends: true, Code: 51}
		}
		return testcluster.Act{Ends: true}
	})
	w.createJob(t, namespace, "elsewhere", 1)
	testcluster.Eventually(t, "the fourth Pod finds no node", func(context.Context) (bool, error) {
		all := witness.seen()
		return len(all) == 4 && slices.ContainsFunc(all[3].Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable
		}), nil
	})
	w.addNode(t, good)
	if job, last := w.UntilFinished(t, namespace, "elsewhere"); last.Type != batchv1.JobComplete {
		t.Errorf("the Job ends with %+v", job.Status)
	}
	var failed []string // newest first
	for _, pod := range witness.seen() {
		if slices.Contains(failed, pod.Spec.NodeName) {
			t.Errorf("%s runs on %s again", pod.Name, pod.Spec.NodeName)
		}
		if diff := cmp.Diff(failed, avoided(pod)); diff != "" {
			t.Errorf("nodes that %s avoids (-want +got):\n%s", pod.Name, diff)
		}
		failed = append([]string{pod.Spec.NodeName}, failed...)
	}
}

// avoided returns the nodes that a stored Pod may not run on.
func avoided(pod *corev1.Pod) (nodes []string) {
	if pod.Spec.Affinity == nil {
		return nil
	}
	for _, term := range pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, e := range term.MatchExpressions {
			if e.Key == corev1.LabelHostname && e.Operator == corev1.NodeSelectorOpNotIn {
				nodes = append(nodes, e.Values...)
			}
		}
	}
	return nodes
}
