package controller

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/lru"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// report is a verdict and what its event says besides.
type report struct {
	verdict runtime.Verdict
	// would is what custom policies would have decided that do not decide, because they are only audited or others run the
	// Job; nil if that is the same.
	would *runtime.Verdict
	// problems are match conditions that could not be evaluated, if nobody else tells them.
	problems []*binding.ConditionError
}

// notable tells whether there is something to be told besides the verdict.
func (o report) notable() bool { return o.would != nil || len(o.problems) > 0 }

// different is what would have been decided, unless it was.
func different(decided, would runtime.Verdict) *runtime.Verdict {
	if would.Equal(decided) {
		return nil
	}
	return &would
}

// bound asks the custom policies that are bound to the Job of a pod that others run. The verdict is that of the Job's own
// program, which may be nil. The error is that the caches do not have yet what the policies read.
func (o *observer) bound(ctx context.Context, s *observedPod, own *runtime.Program) error {
	selection, err := o.policies.selection(ctx, s.job)
	if err != nil {
		return err
	}
	s.problems = selection.Problems
	if selection.Empty() {
		return nil
	}
	if o.policies.caching.pods.lacks(s.pod) {
		return errPartial(s.pod)
	}
	in := input(s.pod, s.job, o.attempts.of(s.job, s.pod), o.clock.Now())
	s.would = different(s.verdict, selection.Audited(own).Judge(ctx, in))
	return nil
}

// attempts are numbers of the pods of Jobs that others run: what was found out for one pod is kept for the others.
type attempts struct {
	pods   cache.Indexer
	recent *lru.Cache // of map[types.UID]int64, by the UID of the Job
}

// maxAttempts is for how many Jobs numbers are kept.
const maxAttempts = 100

func newAttempts(pods cache.Indexer) attempts { return attempts{pods, lru.New(maxAttempts)} }

func (a attempts) forget(job types.UID) { a.recent.Remove(job) }

// of is the number of a pod, from 1.
func (a attempts) of(job *batchv1.Job, pod *corev1.Pod) int64 {
	if known, found := a.recent.Get(job.UID); found {
		if number := known.(map[types.UID]int64)[pod.UID]; number > 0 { //nolint:forcetypeassert // nothing else is in there
			return number
		}
	}
	pods := podsOf(a.pods, plan.OwnerFor(job))
	if !slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return p.UID == pod.UID }) {
		pods = append(pods, pod)
	}
	numbers := make(map[types.UID]int64, len(pods))
	for i, number := range plan.Attempts(job, pods) {
		numbers[pods[i].UID] = number
	}
	a.recent.Add(job.UID, numbers)
	return numbers[pod.UID]
}
