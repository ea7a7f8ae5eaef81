package snapshot

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/controller/plan"
)

// Attempts are the attempt numbers of a Job's Pods, and the attempts before each. A loop of the controller computes them once for
// several Pods of a Job.
type Attempts struct {
	numbers map[types.UID]int64
	earlier map[string][]cel.Attempt // by the names of Pods; nil unless rules read them
}

// AttemptsOf numbers the Pods of a Job. It finds the attempts before each if withEarlier is true.
func AttemptsOf(job *batchv1.Job, pods []*corev1.Pod, withEarlier bool) Attempts {
	a := Attempts{numbers: plan.AttemptsByUID(job, pods)}
	if withEarlier {
		a.earlier = plan.EarlierAttempts(plan.Observation{Job: job, Pods: pods})
	}
	return a
}

// Have reports whether the attempts include a Pod's, and those before it if withEarlier is true.
func (a *Attempts) Have(pod *corev1.Pod, withEarlier bool) bool {
	return a.numbers[pod.UID] > 0 && (a.earlier != nil || !withEarlier)
}

// Pod returns a Pod with its number and the attempts before it.
func (a *Attempts) Pod(pod *corev1.Pod) Pod {
	return Pod{Object: pod, Attempt: a.numbers[pod.UID], Earlier: a.earlier[pod.Name]}
}
