package runtime

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Input is what rules are evaluated over. The objects are read, never copied or
// converted, and not kept.
type Input struct {
	Pod *corev1.Pod
	// Job is the pod's Job. Without one, rules see one that has no field set.
	Job *batchv1.Job
	// Attempt is the pod's number at its index or slot, from 1.
	Attempt int64
	// Now is the time for rules on Pending.
	Now time.Time
}

// What there is when there is nothing. Nobody writes to them.
var (
	noPod corev1.Pod
	noJob batchv1.Job
)
