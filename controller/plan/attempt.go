package plan

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Attempt returns a pod's attempt number, from 1. It is the number in the pod's name, or 1 if Next did not name the pod.
// It never changes.
func Attempt(job *batchv1.Job, p *corev1.Pod) int64 {
	_, attempt, _ := newNamer(job).parse(p.Name)
	return int64(attempt) + 1
}

// Attempts returns the attempt numbers of a Job's pods at their index or slot, from 1, in the order of the pods.
//
// A name given by Next contains the number. The failure counts that the Job controller writes to pod annotations under
// backoffLimitPerIndex (KEP-3850) give it too. For other pods it is one more than the number of pods that had failed when
// the pod was created, at the same index in an Indexed Job. With parallel pods and no indexes this is an upper bound,
// because nothing records which pod replaces which. Deleted pods are not counted.
func Attempts(job *batchv1.Job, pods []*corev1.Pod) []int64 {
	n := newNamer(job)
	failed := map[int][]time.Time{} // finish times, by index
	indexed := completionMode(job) == batchv1.IndexedCompletion
	index := func(p *corev1.Pod) int {
		if !indexed {
			return 0
		}
		return annotatedIndex(p)
	}
	for _, p := range pods {
		if when := FinishTime(p); p.Status.Phase == corev1.PodFailed && !when.IsZero() {
			failed[index(p)] = append(failed[index(p)], when)
		}
	}
	for _, times := range failed {
		slices.SortFunc(times, time.Time.Compare)
	}
	attempts := make([]int64, len(pods))
	for i, p := range pods {
		attempt, named := n.attempt(job, p)
		if attempts[i] = attempt; named {
			continue
		}
		if _, counted := p.Annotations[batchv1.JobIndexFailureCountAnnotation]; counted {
			continue
		}
		created := p.CreationTimestamp.Time
		times := failed[index(p)]
		after, _ := slices.BinarySearchFunc(times, created, func(when, created time.Time) int {
			if when.After(created) {
				return 1
			}
			return -1
		})
		if own := FinishTime(p); p.Status.Phase == corev1.PodFailed && !own.IsZero() && !own.After(created) {
			after-- // do not count the pod itself
		}
		attempts[i] += int64(after)
	}
	return attempts
}

// AttemptAlone returns a pod's attempt number from only its name and annotations.
func AttemptAlone(job *batchv1.Job, p *corev1.Pod) int64 {
	var n namer
	if Managed(job) {
		n = newNamer(job)
	}
	attempt, _ := n.attempt(job, p)
	return attempt
}

// attempt returns a pod's attempt number, and whether its name contains it.
func (n namer) attempt(job *batchv1.Job, p *corev1.Pod) (number int64, named bool) {
	if Managed(job) { // kube-controller-manager's names look the same
		if _, attempt, ok := n.place(job, p); ok {
			return int64(attempt) + 1, true
		}
	}
	return 1 + precedingFailures(p), false
}

// AttemptsByUID returns the attempt numbers of a Job's pods, keyed by pod UID.
func AttemptsByUID(job *batchv1.Job, pods []*corev1.Pod) map[types.UID]int64 {
	numbers := make(map[types.UID]int64, len(pods))
	for i, number := range Attempts(job, pods) {
		numbers[pods[i].UID] = number
	}
	return numbers
}
