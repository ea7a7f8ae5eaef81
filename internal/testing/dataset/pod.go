package dataset

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
)

// traits are the common properties of a Job's attempts.
type traits struct {
	poison int  // the line whose attempts all fail, or -1
	bad    bool // misconfigured: every attempt exits with the planted code
	low    bool // low priority: preempted most of the time
	roomy  bool // has enough memory for the planted image
}

// traits returns random traits for a Job. One Job in a hundred has a line that cannot succeed.
func (g *generator) traits(a *app) traits {
	preempts := slices.Contains(g.Plant, "disruption")
	t := traits{-1, g.badCode != 0 && g.chance(0.06), preempts && g.chance(0.15), g.chance(0.2)}
	if g.chance(0.01) {
		t.poison = g.IntN(int(*a.Job.Spec.Completions))
	}
	return t
}

// attempt is a running Pod. The exit code is 0 if it succeeds.
type attempt struct {
	line   int
	pod    *corev1.Pod
	end    time.Time
	code   int32
	reason string // reason of the container; empty for the container runtime's default
	cause  podstatus.Cause
}

// ends decides the end of an attempt: by the planted causes, otherwise at random.
func (l *life) ends(line int, node string) (code int32, reason string, cause podstatus.Cause) {
	switch {
	case l.bad:
		return l.badCode, "", podstatus.Cause{}
	case l.job.Spec.Template.Spec.Containers[0].Image == l.badImage && !l.roomy && l.chance(0.9):
		return 137, podstatus.ReasonOOMKilled, podstatus.Cause{}
	case node == l.badNode && l.chance(0.6):
		return pick(l.generator, []int32{1, 132, 135, 139, 255}), "", podstatus.Cause{}
	case l.low && l.chance(0.7):
		return 143, "", podstatus.PreemptedByScheduler
	case line == l.poison:
		return 1, "", podstatus.Cause{}
	case !l.chance(l.Noise * l.app.flaky):
		return 0, "", podstatus.Cause{}
	case l.chance(0.1):
		return 143, "", pick(l.generator, []podstatus.Cause{podstatus.EvictedByAPI, podstatus.PreemptedByScheduler, podstatus.Tainted})
	case l.chance(1.0 / 10):
		return 137, podstatus.ReasonOOMKilled, podstatus.Cause{}
	}
	return pick(l.generator, []int32{1, 1, 1, 1, 1, 2, 255, 139}), "", podstatus.Cause{}
}

// start starts the attempt that has waited longest.
func (l *life) start(now time.Time) {
	a := l.waiting[0]
	l.waiting = l.waiting[1:]
	a.pod = l.pod(a.line, slices.MaxFunc([]time.Time{now, a.end, l.backoff}, time.Time.Compare))
	a.code, a.reason, a.cause = l.ends(a.line, a.pod.Spec.NodeName)
	typical := time.Duration(l.app.Minutes) * time.Minute
	ran := l.between(typical/2, typical*3/2)
	if a.code != 0 {
		ran = l.between(2*time.Second, typical)
	}
	a.end = a.pod.Status.StartTime.Add(ran)
	l.active = append(l.active, a)
}

// pod returns a new Pod of the Job.
func (l *life) pod(line int, created time.Time) *corev1.Pod {
	name, nodes := l.job.Name+"-", l.workers
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Spec: *l.job.Spec.Template.Spec.DeepCopy()}
	pod.Labels = map[string]string{batchv1.JobNameLabel: l.job.Name, batchv1.ControllerUidLabel: string(l.job.UID)}
	if index := strconv.Itoa(line); *l.job.Spec.CompletionMode == batchv1.IndexedCompletion {
		name += index + "-"
		pod.Labels[batchv1.JobCompletionIndexAnnotation] = index
		pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: index}
	}
	if _, gpu := pod.Spec.Containers[0].Resources.Limits["nvidia.com/gpu"]; gpu {
		nodes = l.gpus
	}
	pod.Namespace, pod.Name, pod.UID = l.job.Namespace, name+l.suffix(), types.UID(fmt.Sprintf("%s-pod-%d", l.job.UID, l.IntN(1<<40)))
	pod.CreationTimestamp, pod.Spec.NodeName = metav1.NewTime(created), pick(l.generator, nodes)
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(l.job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	pod.Status.StartTime = new(metav1.NewTime(created.Add(l.between(time.Second, 20*time.Second))))
	return pod
}

// suffix returns a random name suffix like the API server's.
func (g *generator) suffix() string {
	name := make([]byte, 5)
	for i := range name {
		name[i] = "bcdfghjklmnpqrstvwxz2456789"[g.IntN(27)]
	}
	return string(name)
}

func (a attempt) finish() *corev1.Pod {
	end, status := metav1.NewTime(a.end), &a.pod.Status
	status.Phase = corev1.PodSucceeded
	if a.code != 0 {
		status.Phase = corev1.PodFailed
	}
	a.cause.Write(a.pod, end)
	main := a.pod.Spec.Containers[0]
	status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: main.Name, Image: main.Image, State: podstatus.Exited(a.code, a.reason, *status.StartTime, end),
	}}
	return a.pod
}
