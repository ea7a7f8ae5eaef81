package observing

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/podverdict/podverdict/controller/caches"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// judgeCustom evaluates the custom policies that are bound to the Job of an observed pod, together with the Job's own
// program, which may be nil. It returns an error if the caches still lack fields that the policies read.
func (o *Loop) judgeCustom(ctx context.Context, s *observedPod, own *runtime.Program) error {
	selection, err := o.Selection(ctx, s.job)
	if err != nil {
		return err
	}
	s.problems = selection.Problems
	if selection.Empty() {
		return nil
	}
	if o.Caches.LacksPod(s.pod) {
		return caches.LacksError(s.pod)
	}
	in := caches.Input(s.pod, s.job, o.attempts.of(s.job, s.pod), o.Clock.Now())
	in.Node, in.NodesRead = o.Caches.NodeOf(s.pod)
	s.would = selection.Effect(binding.Manager(s.job), own).Beside(ctx, in, s.verdict).Would
	return nil
}

// attempts caches the attempt numbers of other controllers' pods: they are computed for all pods of a Job at once.
type attempts struct {
	caches *caches.Caches
	recent *lru.Cache // of map[types.UID]int64, by the UID of the Job
}

// maxAttempts is for how many Jobs numbers are cached.
const maxAttempts = 100

func newAttempts(caches *caches.Caches) attempts { return attempts{caches, lru.New(maxAttempts)} }

func (a attempts) forget(job types.UID) { a.recent.Remove(job) }

// of returns the attempt number of a pod, from 1.
func (a attempts) of(job *batchv1.Job, pod *corev1.Pod) int64 {
	if known, found := a.recent.Get(job.UID); found {
		if number := known.(map[types.UID]int64)[pod.UID]; number > 0 { //nolint:forcetypeassert // nothing else is stored
			return number
		}
	}
	pods := a.caches.PodsOf(plan.OwnerFor(job))
	if !slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return p.UID == pod.UID }) {
		pods = append(pods, pod)
	}
	numbers := plan.AttemptsByUID(job, pods)
	a.recent.Add(job.UID, numbers)
	return numbers[pod.UID]
}
