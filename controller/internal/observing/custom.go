package observing

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/runtime"
)

// judgeCustom evaluates the custom policies bound to the Job of an observed pod, together with the Job's own program,
// which may be nil. It returns an error if the caches still lack fields that the policies read.
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
	known := o.attempts.of(s.job, s.pod, selection.ReadsAttempts())
	pod := known.Pod(s.pod)
	pod.Recorded = &s.verdict
	pod.Node, pod.NodesRead = o.Caches.NodeOf(s.pod)
	s.would = caches.Snapshot(s.job, snapshot.RulesIn(s.job, own, selection), o.Clock.Now(), pod).Beside(ctx, 0).Would
	return nil
}

// attempts caches the attempt numbers of other controllers' pods, and their earlier attempts. They are computed for all
// pods of a Job at once.
type attempts struct {
	caches *caches.Caches
	recent *lru.Cache // snapshot.Attempts by UID of the Job
}

// maxAttempts is the number of Jobs for which attempts are cached.
const maxAttempts = 100

func newAttempts(caches *caches.Caches) attempts { return attempts{caches, lru.New(maxAttempts)} }

func (a attempts) forget(job types.UID) { a.recent.Remove(job) }

// of returns the attempts of a Job, including the number of the given pod.
func (a attempts) of(job *batchv1.Job, pod *corev1.Pod, earlier bool) snapshot.Attempts {
	if cached, found := a.recent.Get(job.UID); found {
		known := cached.(snapshot.Attempts) //nolint:forcetypeassert // nothing else is stored
		if known.Have(pod, earlier) {
			return known
		}
	}
	pods := a.caches.PodsOf(plan.OwnerFor(job))
	if !slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return p.UID == pod.UID }) {
		pods = append(pods, pod)
	}
	known := snapshot.AttemptsOf(job, pods, earlier)
	a.recent.Add(job.UID, known)
	return known
}
