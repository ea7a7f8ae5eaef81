package plan

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Attempt returns the number of the attempt at its slot that a pod is, from 1, as Next has it: that in the name, and 1 for a pod
// that Next has not named. It never changes.
func Attempt(job *batchv1.Job, p *corev1.Pod) int64 {
	_, attempt, _ := newNamer(job).parse(p.Name)
	return int64(attempt) + 1
}

// Attempts returns the numbers of a Job's pods at their index or slot, from 1, in the order of the pods.
//
// A name that Next gave tells the number. So do the failure counts that the Job controller annotates pods with when there is a
// backoffLimitPerIndex (KEP-3850). Of other pods it is one more than the pods, of the same index if there are indexes, that
// had failed when the pod was created: with several pods at a time and no indexes, nothing tells which of them it replaces,
// so it is then the most that the number can be; pods that are gone are not counted.
func Attempts(job *batchv1.Job, pods []*corev1.Pod) []int64 {
	n := newNamer(job)
	failed := map[int][]time.Time{} // when, by index
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
		if _, attempt, ok := n.place(job, p); ok && Managed(job) { // names by Kubernetes look the same
			attempts[i] = int64(attempt) + 1
			continue
		}
		attempts[i] = 1 + precedingFailures(p)
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
			after-- // no pod precedes itself
		}
		attempts[i] += int64(after)
	}
	return attempts
}

// AttemptsByUID returns the numbers of Attempts by the UIDs of the pods.
func AttemptsByUID(job *batchv1.Job, pods []*corev1.Pod) map[types.UID]int64 {
	numbers := make(map[types.UID]int64, len(pods))
	for i, number := range Attempts(job, pods) {
		numbers[pods[i].UID] = number
	}
	return numbers
}
