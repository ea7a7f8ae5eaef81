package cel

import corev1 "k8s.io/api/core/v1"

// Condition is a condition of a pod, or the absence of one.
type Condition struct {
	condition *corev1.PodCondition
}

// ConditionOf returns the pod's first condition of a type.
func ConditionOf(pod *corev1.Pod, conditionType string) Condition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; string(c.Type) == conditionType {
			return Condition{c}
		}
	}
	return Condition{&absentCondition}
}

// absentCondition stands for a condition that a pod does not have. It must not be changed.
var absentCondition corev1.PodCondition

func (c Condition) found() bool { return c.condition != &absentCondition }

func (c Condition) status() string { return string(c.condition.Status) }

func (c Condition) reason() string { return c.condition.Reason }

func (c Condition) message() string { return c.condition.Message }

// HasCondition reports whether the pod has a condition of the type that is True.
func HasCondition(pod *corev1.Pod, conditionType string) bool {
	return ConditionOf(pod, conditionType).condition.Status == corev1.ConditionTrue
}
