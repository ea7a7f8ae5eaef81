package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// TestPlanIsDeterministic tests that the Plan does not depend on the order of the cache, and does not change the
// observation.
func TestPlanIsDeterministic(t *testing.T) {
	b := perIndex(9, 5, 2).started().policy()
	pods := []podBuilder{
		podOf(b, 0, 0).failures(0).exited(1, 1), podOf(b, 0, 1).failures(1).exited(1, 2), podOf(b, 1, 0).failures(0).exited(0, 2),
		podOf(b, 2, 0).ready(), podOf(b, 2, 1), podOf(b, 8, 0).name("stray"), podOf(b, 3, 0).failures(0).exited(codeFailIndex, 2).deleted(3),
		podOf(b, 4, 0).running().deleted(3), podOf(b, 12, 0).ready(),
	}
	want := planText(Next(seen(b, 100, pods...)))
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		random.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		o := seen(b, 100, pods...)
		job, list := o.Job.DeepCopy(), copies(o.Pods)
		if diff := cmp.Diff(want, planText(Next(o))); diff != "" {
			t.Fatal(diff)
		}
		if cmp.Diff(job, o.Job) != "" || cmp.Diff(list, o.Pods) != "" {
			t.Fatal("the observation is changed")
		}
	}
}

func copies(pods []*corev1.Pod) []*corev1.Pod {
	var all []*corev1.Pod
	for _, p := range pods {
		all = append(all, p.DeepCopy())
	}
	return all
}

func planText(p Plan) string {
	return fmt.Sprint(podNames(p.Release), podNames(p.Dismiss), podNames(p.Delete), podNames(p.Create), p.LookAgain, p.Events, statusText(p.Write))
}

// BenchmarkNext measures one Plan of a Job with many pods, half of which have failed.
func BenchmarkNext(b *testing.B) {
	for _, many := range []int{100, 10000} {
		j := perIndex(int32(many), int32(many), 1).started()
		var pods []podBuilder
		for slot := range many {
			p := podOf(j, slot, 0).failures(0).ready()
			if slot%2 == 0 {
				p.exited(1, 1)
			}
			pods = append(pods, p)
		}
		o := seen(j, 5, pods...)
		b.Run(fmt.Sprint(many), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Next(o)
			}
		})
	}
}
