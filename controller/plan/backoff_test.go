package plan

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// TestDelay covers item 61: 10 seconds, doubled up to 10 minutes, from the last finish.
func TestDelay(t *testing.T) {
	s := Settings{}.withDefaults()
	for failures, want := range map[int64]time.Duration{
		0: 0, 1: 10 * time.Second, 2: 20 * time.Second, 3: 40 * time.Second, 6: 320 * time.Second, 7: 10 * time.Minute, 100: 10 * time.Minute, 1 << 32: 10 * time.Minute,
	} {
		if got := s.delay(failures, epoch, epoch); got != want {
			t.Errorf("after %d failures the delay is %v, want %v", failures, got, want)
		}
	}
	if got := s.delay(1, epoch, epoch.Add(9*time.Second)); got != time.Second {
		t.Errorf("after 9 s it is %v", got)
	}
	if got := s.delay(1, epoch, epoch.Add(time.Minute)); got != 0 {
		t.Errorf("after a minute it is %v", got)
	}
}

// TestClocks tests clocks that differ: a failure in the future delays no longer than one now, and is compared with its
// stored time.
func TestClocks(t *testing.T) {
	b := nonIndexed(9, 1).started()
	if got := planned(t, seen(b, 10, podOf(b, 0, 0).exited(1, 500))).LookAgain; got != 10*time.Second {
		t.Errorf("the delay is %v", got)
	}
	far := b.ledger(`{"backoff":{"failures":9,"last":"2999-01-01T00:00:00Z"}}`)
	if p := planned(t, seen(far, 10)); p.LookAgain != 0 || len(p.Create) != 1 {
		t.Errorf("the delay is %v", p.LookAgain)
	}
	o := seen(b.policy(), 10, podOf(b, 0, 0).exited(codeIgnore, 5).deleted(6))
	o.Pods[0].Status.ContainerStatuses[0].State.Terminated.FinishedAt.Time = at(5).Add(time.Second / 2)
	o.Job = planned(t, o).Write
	if p := planned(t, o); len(p.Release) != 1 {
		t.Error("the pod is not let go")
	}
}

// TestBackoff covers part D of the semantics: the back-off clock.
func TestBackoff(t *testing.T) {
	ni, ix := nonIndexed(9, 2).started(), perIndex(9, 2, 9).started()
	runAll(t, []behaviour{
		{name: "61: two failures", job: ni, pods: []podBuilder{podOf(ni, 0, 0).exited(1, 5), podOf(ni, 1, 0).exited(1, 6)}, second: 8,
			want: want{status: numbers(0, 0, 2), lookAgain: 18}},
		{name: "62: a success resets", job: ni, pods: []podBuilder{podOf(ni, 0, 0).exited(1, 5), podOf(ni, 0, 1).exited(1, 15), podOf(ni, 1, 0).exited(0, 16), podOf(ni, 0, 2).exited(1, 17)}, second: 18,
			want: want{status: numbers(0, 1, 3), lookAgain: 9}},
		{name: "62: at the same instant, too", job: ni, pods: []podBuilder{podOf(ni, 0, 0).exited(1, 5), podOf(ni, 1, 0).exited(0, 5)}, second: 6,
			want: want{create: []string{"0/1", "2/0"}, status: numbers(0, 1, 1)}},
		{name: "63: each index on its own", job: ix, pods: []podBuilder{podOf(ix, 0, 0).failures(2).exited(1, 5), podOf(ix, 1, 0).failures(0).exited(1, 5)}, second: 16,
			want: want{create: []string{"1/1"}, status: numbers(0, 0, 0), lookAgain: 29}},
		{name: "37: ignored failures count for the delay", job: ix.policy(), pods: []podBuilder{podOf(ix, 0, 0).failures(1).ignored(1).exited(codeIgnore, 5), podOf(ix, 1, 0)}, second: 6,
			want: want{status: numbers(1, 0, 0), lookAgain: 39}},
		{name: "57: of pods with as many failures, from the last to finish", job: ix, second: 10,
			pods: []podBuilder{podOf(ix, 0, 0).failures(1).exited(1, 9), podOf(ix, 0, 1).failures(1).exited(1, 5), podOf(ix, 1, 0)},
			want: want{status: numbers(1, 0, 1), lookAgain: 19}},
		{name: "68: the status shows the active pods during the back-off", job: ni, pods: []podBuilder{podOf(ni, 0, 0).exited(1, 5), podOf(ni, 1, 0).ready()}, second: 6,
			want: want{status: all(numbers(1, 0, 1), func(s *batchv1.JobStatus) string {
				if ptr.Deref(s.Ready, 0) != 1 {
					return "not ready"
				}
				return ""
			}), lookAgain: 9}},
		{name: "64: failures that are gone are remembered by the next pod", job: ni, second: 101,
			pods: []podBuilder{podOf(ni, 0, 3).annotated(ConsecutiveFailuresAnnotation, "3").exited(1, 100), podOf(ni, 1, 0).ready()}, want: want{lookAgain: 79}},
		{name: "a dismissed pod does not delay", job: ni, second: 6,
			pods: []podBuilder{podOf(ni, 0, 0).running().released().deleted(5), podOf(ni, 1, 0).ready()}, want: want{create: []string{"0/1"}, status: numbers(1, 0, 0)}},
	})
}

// TestBackoffAfterEviction covers items 36 and 64: evicted pods are ignored, deleted, and gone; the delay remains.
func TestBackoffAfterEviction(t *testing.T) {
	b := nonIndexed(9, 2).started().policy()
	o := seen(b, 6, podOf(b, 0, 0).exited(1, 4).disrupted().deleted(4), podOf(b, 1, 0).exited(1, 5).disrupted().deleted(5))
	p := planned(t, o)
	if l := mustLedger(t, p.Write); len(p.Release) > 0 || l.Backoff == nil || l.Backoff.Failures != 2 || p.Write.Status.Failed != 0 {
		t.Fatalf("%s, release %v", statusText(p.Write), podNames(p.Release))
	}
	o.Job = p.Write
	if p = planned(t, o); len(p.Release) != 2 {
		t.Fatalf("release is %v", podNames(p.Release))
	}
	for name, test := range map[string]struct {
		pods []podBuilder
		want int
	}{
		"all are gone":             {nil, 19},
		"one is there":             {[]podBuilder{podOf(b, 1, 0).exited(1, 5).disrupted().released()}, 19},
		"another fails":            {[]podBuilder{podOf(b, 1, 1).exited(1, 6)}, 40},
		"another failed then, too": {[]podBuilder{podOf(b, 1, 1).exited(1, 5)}, 39},
		"a success":                {[]podBuilder{podOf(b, 1, 1).exited(0, 5)}, 0},
		"a success, and another":   {[]podBuilder{podOf(b, 1, 1).exited(0, 5), podOf(b, 0, 1).exited(1, 6)}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			o := seen(jobBuilder{o.Job}, 6, test.pods...)
			if got := int(planned(t, o).LookAgain.Seconds()); got != test.want {
				t.Errorf("the delay is %d s, want %d s", got, test.want)
			}
		})
	}
}

// TestConsecutiveFailuresAreCarried tests that each new pod carries the number of failures so far.
func TestConsecutiveFailuresAreCarried(t *testing.T) {
	b := nonIndexed(9, 1).started()
	p := planned(t, seen(b, 1000, podOf(b, 0, 0).exited(1, 5), podOf(b, 0, 1).annotated(ConsecutiveFailuresAnnotation, "1").exited(1, 50)))
	if got := p.Create[0].Annotations[ConsecutiveFailuresAnnotation]; got != "2" {
		t.Errorf("%q failures are carried", got)
	}
}

// TestFinishTime covers items 65, 66 and 67: when a pod finished.
func TestFinishTime(t *testing.T) {
	ended := func(name string, second int) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: at(second)}}}
	}
	running := corev1.ContainerStatus{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	sidecar := []corev1.Container{{Name: "proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}, {Name: "prepare"}}
	notReady := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: at(70)}}
	deleted := metav1.ObjectMeta{CreationTimestamp: at(1), DeletionTimestamp: new(at(90)), DeletionGracePeriodSeconds: new(int64(30))}
	tests := map[string]struct {
		pod  corev1.Pod
		want int
	}{
		"65: the last container": {corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{ended("a", 5), ended("b", 9), ended("c", 7)}, Conditions: notReady}}, 9},
		"65: not ready since":    {corev1.Pod{ObjectMeta: deleted, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{ended("a", 5), running}, Conditions: notReady}}, 70},
		"65: no finish time":     {corev1.Pod{ObjectMeta: deleted, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}}}, 60},
		"65: deleted":            {corev1.Pod{ObjectMeta: deleted}, 60},
		"65: created":            {corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(1)}}, 1},
		"66: sidecars count, other init containers do not": {corev1.Pod{Spec: corev1.PodSpec{InitContainers: sidecar}, Status: corev1.PodStatus{
			ContainerStatuses: []corev1.ContainerStatus{ended("main", 5)}, InitContainerStatuses: []corev1.ContainerStatus{ended("proxy", 8), ended("prepare", 99)}}}, 8},
		"66: a sidecar that runs": {corev1.Pod{Spec: corev1.PodSpec{InitContainers: sidecar}, Status: corev1.PodStatus{Conditions: notReady,
			ContainerStatuses: []corev1.ContainerStatus{ended("main", 5)}, InitContainerStatuses: []corev1.ContainerStatus{{Name: "proxy"}}}}, 70},
		"67: the sidecar's when the main container runs": {corev1.Pod{Spec: corev1.PodSpec{InitContainers: sidecar}, Status: corev1.PodStatus{Conditions: notReady,
			ContainerStatuses: []corev1.ContainerStatus{running}, InitContainerStatuses: []corev1.ContainerStatus{ended("proxy", 8)}}}, 8},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := FinishTime(&test.pod); !got.Equal(at(test.want).Time) {
				t.Errorf("it is %v, want %v", got, at(test.want))
			}
		})
	}
}
