package plan

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Plan costs what its pods and creations cost, whatever numbers the Job's author writes: the API takes all of these.
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

// A template of a megabyte is not copied for each pod.
func TestLargeTemplate(t *testing.T) {
	environment := make([]corev1.EnvVar, 30_000)
	for i := range environment {
		environment[i] = corev1.EnvVar{Name: "variable-" + strconv.Itoa(i), Value: strings.Repeat("x", 20)}
	}
	job := indexed(500, 500).started().with(func(j *batchv1.Job) { j.Spec.Template.Spec.Containers[0].Env = environment })
	o := seen(job, 0)
	result := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if created := len(Next(o).Create); created != 500 {
				b.Fatalf("%d pods are created", created)
			}
		}
	})
	if bytes := result.AllocedBytesPerOp(); bytes > 20<<20 {
		t.Errorf("a Plan takes %d bytes", bytes)
	}
}

// Whoever may create pods may give them any name, the last one of a slot included.
func TestForgedAttempts(t *testing.T) {
	job := nonIndexed(3, 3).started().backoffLimit(100)
	for _, test := range []struct {
		name     string
		attempts []int
		want     string
	}{
		{"the last number", []int{math.MaxInt32}, "0/0"},
		{"the last number, and the first", []int{0, math.MaxInt32}, "0/1"},
		{"the last but one", []int{math.MaxInt32 - 1}, "0/" + strconv.Itoa(math.MaxInt32)},
		{"the last two", []int{0, 1, 4, math.MaxInt32 - 1, math.MaxInt32}, "0/2"},
		{"more than there are", []int{math.MaxInt32 + 1, math.MaxInt}, "0/0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var pods []podBuilder
			for _, attempt := range test.attempts {
				pods = append(pods, podOf(job, 0, attempt).exited(1, 1))
			}
			o := seen(job, 10_000, pods...)
			if got := slotsAndAttempts(o.Job, planned(t, o).Create); !slices.Contains(got, test.want) {
				t.Errorf("created are %v, want %s among them", got, test.want)
			}
		})
	}
}

// A pod belongs to the Job that its controller reference names in full. Its author can write all else of any Job's pods into
// it, in another namespace too.
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
