package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// Defects that kube-controller-manager once had, by the number of the issue in kubernetes/kubernetes.

// 105200: a pod is counted twice when the cache still shows its finalizer.
func TestStaleFinalizer(t *testing.T) {
	b := nonIndexed(9, 1).started()
	w := newWorld(t.Fatalf, b)
	name := newNamer(w.job).name(0, 0)
	w.create(podOf(b, 0, 0).p)
	w.update(name, func(p *corev1.Pod) { podBuilder{p}.exited(1, 0) })
	w.delete(w.pods[name])
	w.catchUp()
	stale := w.seenPods
	for range 6 { // counted, recorded, released and settled, while the cache of pods stands still
		w.seenJob = len(w.jobs) - 1
		w.seenPods = stale
		for _, call := range w.calls(Next(w.observe())) {
			call()
		}
	}
	w.catchUp()
	for _, call := range w.calls(Next(w.observe())) {
		call()
	}
	if w.job.Status.Failed != 1 || w.pods[name] != nil {
		t.Errorf("%s, pod %v", statusText(w.job), w.pods[name])
	}
}

// 104666: more than 500 pods end at once. 109485: finalizers are left when the Job has ended.
func TestManyPodsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("1,200 pods, several times over")
	}
	const many = 1200
	w := newWorld(t.Fatalf, indexed(many, many).backoffLimit(many-1))
	l := life{nil, w}
	for range 3 { // 500 pods each
		w.run()
	}
	for i, p := range w.podLists[w.seenPods] {
		l.exit(p.Name, int32(i%2))
	}
	w.job = w.job.DeepCopy()
	w.job.Spec.BackoffLimit = new(int32(many/2 - 1))
	w.changedJob()
	for range 5 {
		w.run()
	}
	if s := w.job.Status; s.Failed != many/2 || s.Succeeded != many/2 || !w.ended() {
		t.Errorf("%d failed, %d succeeded, conditions %v", s.Failed, s.Succeeded, s.Conditions)
	}
	if !l.idle(Next(w.observe())) {
		t.Error("something is left to do")
	}
}

// run carries out one Plan from newest caches.
func (w *world) run() {
	w.catchUp()
	for _, call := range w.calls(Next(w.observe())) {
		call()
	}
	w.catchUp()
}

// 113855: a rule must not be ignored when the pod is deleted before it has ended.
func TestRuleAfterDeletion(t *testing.T) {
	b := nonIndexed(1, 1).started().policy()
	terminating := podOf(b, 0, 0).running().deleted(1)
	if p := planned(t, seen(b, 2, terminating)); len(p.Create)+len(p.Release) > 0 || len(p.Write.Status.Conditions) > 0 {
		t.Errorf("the Plan is %+v", p)
	}
	p := planned(t, seen(b, 3, terminating.exited(codeFailJob, 2)))
	if wrong := conditions("FailureTarget/PodFailurePolicy")(&p.Write.Status); wrong != "" {
		t.Error(wrong)
	}
}

// 130103: a stale cache makes for one pod too many. Completions 3, parallelism 2: after two successes and a third pod that the
// cache does not show, it is the same third pod that is created again.
func TestStaleCacheCreatesNoExtraPod(t *testing.T) {
	b := nonIndexed(3, 2).started()
	first := seen(b, 1, podOf(b, 0, 0).ready(), podOf(b, 1, 0).exited(0, 1))
	second := seen(b, 2, podOf(b, 0, 0).exited(0, 2), podOf(b, 1, 0).exited(0, 1))
	if diff := cmp.Diff(podNames(Next(first).Create), podNames(Next(second).Create)); diff != "" {
		t.Error(diff)
	}
}

// 139428: during a back-off with running pods the status must not say that none is active; its test is in TestBackoff.

// The Plan does not depend on the order of the cache, and changes nothing of what is observed.
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

// TestPodsAt finds the pods of a slot in the order of their attempts, whatever the order of the cache.
func TestPodsAt(t *testing.T) {
	b := perIndex(9, 5, 2).started()
	var pods []podBuilder
	for slot := range 9 {
		pods = append(pods, podOf(b, slot, 1), podOf(b, slot, 0).exited(1, 1), podOf(b, slot, 2))
	}
	random := rand.New(rand.NewPCG(1, 3))
	for range 20 {
		random.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		v := observe(seen(b, 100, pods...))
		for slot := range 9 {
			found := v.podsAt(slot)
			for attempt, p := range found {
				if len(found) != 3 || p.slot != slot || p.attempt != attempt {
					t.Fatalf("slot %d: %d pods, of which %s is number %d", slot, len(found), p.Name, attempt)
				}
			}
		}
		if n := len(v.podsAt(9)); n != 0 {
			t.Fatalf("%d pods of a slot that has none", n)
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

// BenchmarkNext is one Plan of a Job with many pods, half of which have failed.
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
