package plan

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestProgress tests that lower parallelism removes the pods with the least progress.
func TestProgress(t *testing.T) {
	job := nonIndexed(5, 5)
	created := func(p podBuilder, second int) podBuilder {
		return p.with(func(p *corev1.Pod) { p.CreationTimestamp = at(second) })
	}
	readySince := func(p podBuilder, second int) podBuilder {
		return p.ready().with(func(p *corev1.Pod) { p.Status.Conditions[0].LastTransitionTime = at(second) })
	}
	pending := func() podBuilder { return podOf(job, 0, 0) }
	scheduled := func() podBuilder {
		return pending().with(func(p *corev1.Pod) { p.Spec.NodeName = "node" })
	}
	var pods []*pod
	for _, p := range []podBuilder{ // from the least progress to the most
		created(pending(), 7), created(pending(), 6),
		created(scheduled(), 5), created(scheduled(), 4),
		scheduled().with(func(p *corev1.Pod) { p.Status.Phase = corev1.PodUnknown }),
		created(pending().running(), 3), created(pending().running(), 2),
		readySince(pending(), 9), readySince(created(pending(), 1), 8), readySince(pending(), 8),
		podOf(job, 0, 2).ready(), podOf(job, 0, 1).ready(), pending().ready().name("b"), pending().ready().name("a"),
	} {
		read := podView(p.p)
		read.slot, read.attempt, _ = newNamer(job.j).parse(p.p.Name)
		pods = append(pods, read)
	}
	for i, a := range pods {
		for k, b := range pods {
			if got := compareProgress(a, b); (got < 0) != (i < k) || (got == 0) != (i == k) {
				t.Errorf("%d and %d: %d", i, k, got)
			}
		}
	}
}
