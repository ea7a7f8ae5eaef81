package snapshot

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/controller/plan"
)

// Attempts holds the attempt numbers of a Job's Pods, and the attempts before each. A controller loop computes them once for
// several Pods of a Job.
type Attempts struct {
	numbers map[types.UID]int64
	earlier map[string][]cel.Attempt // by Pod name; nil unless rules read them
}

// AttemptsOf numbers the Pods of a Job. If withEarlier is true, it also collects the attempts before each.
func AttemptsOf(job *batchv1.Job, pods []*corev1.Pod, withEarlier bool) Attempts {
	a := Attempts{numbers: plan.AttemptsByUID(job, pods)}
	if withEarlier {
		a.earlier = plan.EarlierAttempts(plan.Observation{Job: job, Pods: pods})
	}
	return a
}

// Have reports whether a has the number of a Pod and, if withEarlier is true, the attempts before it.
func (a *Attempts) Have(pod *corev1.Pod, withEarlier bool) bool {
	return a.numbers[pod.UID] > 0 && (a.earlier != nil || !withEarlier)
}

// Pod returns a Pod with its number and the attempts before it.
func (a *Attempts) Pod(pod *corev1.Pod) Pod {
	return Pod{Object: pod, Attempt: a.numbers[pod.UID], Earlier: a.earlier[pod.Name]}
}
