package plan

import (
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestExtremeNumbers tests that a Plan's cost depends on its pods and creations, not on the numbers in the Job. The API
// accepts all of these.
func TestExtremeNumbers(t *testing.T) {
	const most = math.MaxInt32
	for name, job := range map[string]jobBuilder{
		"work queue":      workQueue(most),
		"without indexes": nonIndexed(most, most),
		"with indexes":    indexed(100_000, 100_000),
		"per index":       perIndex(100_000, 10_000, most),
	} {
		t.Run(name, func(t *testing.T) {
			job := job.started()
			o := seen(job, 60, podOf(job, 0, 0), podOf(job, 3, 1).exited(1, 2))
			if created := len(planned(t, o).Create); created != 500 {
				t.Errorf("%d pods are created, want 500", created)
			}
			const perPod = 50
			if allocations := testing.AllocsPerRun(1, func() { Next(o) }); allocations > 500*perPod {
				t.Errorf("%.0f allocations", allocations)
			}
		})
	}
}

// TestLargeTemplate tests that a Plan limits the size of its pods: with a template of a megabyte, it creates fewer.
func TestLargeTemplate(t *testing.T) {
	environment := make([]corev1.EnvVar, 30_000)
	for i := range environment {
		environment[i] = corev1.EnvVar{Name: "variable-" + strconv.Itoa(i), Value: strings.Repeat("x", 20)}
	}
	job := indexed(500, 500).started().with(func(j *batchv1.Job) { j.Spec.Template.Spec.Containers[0].Env = environment })
	o := seen(job, 0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if created := len(Next(o).Create); created < 2 || created > 20 {
		t.Errorf("%d pods are created", created)
	}
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 20<<20 {
		t.Errorf("a Plan takes %d bytes", bytes)
	}
}

// TestControls tests that a pod belongs to a Job only if its controller reference names the Job in full. A pod's author
// can copy all other parts from any Job's pods, even in another namespace.
func TestControls(t *testing.T) {
	job := indexed(2, 2).started()
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"ours":                {func(*corev1.Pod) {}, true},
		"another namespace":   {func(p *corev1.Pod) { p.Namespace = "other" }, false},
		"another name":        {func(p *corev1.Pod) { p.OwnerReferences[0].Name = "other" }, false},
		"another UID":         {func(p *corev1.Pod) { p.OwnerReferences[0].UID = "other" }, false},
		"another kind":        {func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "CronJob" }, false},
		"another group":       {func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "example.com/v1" }, false},
		"not its controller":  {func(p *corev1.Pod) { p.OwnerReferences[0].Controller = new(false) }, false},
		"nobody's":            {func(p *corev1.Pod) { p.OwnerReferences = nil }, false},
		"one more owner":      {func(p *corev1.Pod) { p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{UID: "x"}) }, true},
		"another's, after it": {func(p *corev1.Pod) { p.OwnerReferences[0].Controller, p.OwnerReferences[0].UID = nil, "job-uid" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			forged := podOf(job, 0, 0).exited(42, 1)
			test.change(forged.p)
			if got := Controls(job.j, forged.p); got != test.want {
				t.Errorf("Controls is %v", got)
			}
			o := seen(job, 60, forged)
			if counted := planned(t, o).Write.Status.Failed == 1; counted != test.want {
				t.Errorf("counted is %v", counted)
			}
		})
	}
}
