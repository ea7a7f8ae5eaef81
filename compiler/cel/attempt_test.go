package cel_test

import (
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/compiler/cel"
)

// TestAttemptOf checks that an Attempt holds everything that rules can read about an earlier failed
// pod.
func TestAttemptOf(t *testing.T) {
	created := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	started, finish := created.Add(time.Minute), created.Add(time.Hour)
	disrupted := podOf(status("main", exited(143)))
	disrupted.Status.Conditions = condition(corev1.DisruptionTarget, corev1.ConditionTrue, "PreemptionByScheduler").Status.Conditions
	two := podOf(
		status("a", terminated(corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"})),
		status("b", terminated(corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"})))
	two.Spec.NodeName, two.Status.StartTime = "node", &metav1.Time{Time: started}
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want cel.Attempt
	}{
		"nothing":              {&corev1.Pod{}, cel.Attempt{StartTime: created}},
		"the Pod's own reason": {&corev1.Pod{Status: corev1.PodStatus{Reason: "Evicted"}}, cel.Attempt{Reason: "Evicted", StartTime: created}},
		"a disruption":         {disrupted, cel.Attempt{ExitCode: 143, Reason: "PreemptionByScheduler", StartTime: created}},
		"two containers":       {two, cel.Attempt{Node: "node", ExitCode: 3, Reason: "Error", OOMKilled: true, StartTime: started}},
	} {
		tc.pod.UID, tc.pod.CreationTimestamp = "1", metav1.Time{Time: created}
		tc.want.Pod, tc.want.FinishTime = "1", finish
		if diff := gocmp.Diff(tc.want, cel.AttemptOf(tc.pod, finish)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
