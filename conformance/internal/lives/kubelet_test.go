package lives

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestExit(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	status := func(name string, code int32, at time.Time) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: terminated(code, metav1.NewTime(at))}
	}
	condition := func(kind corev1.PodConditionType, status corev1.ConditionStatus, at time.Time) corev1.PodCondition {
		return corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(at)}
	}
	for name, test := range map[string]struct {
		exit Exit
		want corev1.PodStatus
	}{
		"success": {Exit{Code: new(int32), Now: true}, corev1.PodStatus{
			Phase:                 corev1.PodSucceeded,
			InitContainerStatuses: []corev1.ContainerStatus{status("prepare", 0, now)},
			ContainerStatuses:     []corev1.ContainerStatus{status("main", 0, now), status("log", 0, now)},
			Conditions:            []corev1.PodCondition{condition(corev1.PodReady, corev1.ConditionFalse, now)},
		}},
		"failure, an hour ago": {Exit{Code: new(int32(3))}, corev1.PodStatus{
			Phase:                 corev1.PodFailed,
			InitContainerStatuses: []corev1.ContainerStatus{status("prepare", 0, now.Add(-past))},
			ContainerStatuses:     []corev1.ContainerStatus{status("main", 3, now.Add(-past)), status("log", 0, now.Add(-past))},
			Conditions:            []corev1.PodCondition{condition(corev1.PodReady, corev1.ConditionFalse, now.Add(-past))},
		}},
		"failure of an init container": {Exit{Codes: map[string]int32{"prepare": 4}, Now: true}, corev1.PodStatus{
			Phase:                 corev1.PodFailed,
			InitContainerStatuses: []corev1.ContainerStatus{status("prepare", 4, now)},
			ContainerStatuses:     []corev1.ContainerStatus{status("main", 0, now), status("log", 0, now)},
			Conditions:            []corev1.PodCondition{condition(corev1.PodReady, corev1.ConditionFalse, now)},
		}},
		"without containers": {Exit{Conditions: []corev1.PodConditionType{"DisruptionTarget"}, Now: true}, corev1.PodStatus{
			Phase: corev1.PodFailed,
			Conditions: []corev1.PodCondition{
				condition(corev1.PodReady, corev1.ConditionFalse, now), condition("DisruptionTarget", corev1.ConditionTrue, now),
			},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{
				Spec: corev1.PodSpec{
					InitContainers: []corev1.Container{{Name: "prepare"}},
					Containers:     []corev1.Container{{Name: "main"}, {Name: "log"}},
				},
				Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
			}
			test.exit.write(pod, now)
			if diff := cmp.Diff(test.want, pod.Status); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
