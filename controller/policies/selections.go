package policies

import (
	"context"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/podverdict/podverdict/controller/caches"
	"github.com/podverdict/podverdict/controller/recorder"
	"github.com/podverdict/podverdict/runtime/binding"
)

// selections are what was found out to be in force for Jobs, so that match conditions are evaluated once for a version of a Job,
// of its namespace and of the policies, whoever asks: a look at the Job, the observer, or a look at its pods that wait. One is
// kept for each Job that is asked about, until the Job is gone, and for maxSelections of them.
type selections struct {
	once   sync.Once
	recent *lru.Cache // of selected, by the UID of the Job
}

// selected is a Selection and what it depends on.
type selected struct {
	binding.Selection

	set            *binding.Set
	job, namespace string // their resource versions
	at             time.Time
}

const (
	// maxSelections is for how many Jobs a Selection is kept.
	maxSelections = 20_000
	// problemLife is how long a Selection with problems is kept: one that was stopped for want of time may not be the next time.
	problemLife = time.Minute
)

func (s *selections) cache() *lru.Cache {
	s.once.Do(func() { s.recent = lru.New(maxSelections) })
	return s.recent
}

func (s *selections) forget(job types.UID) { s.cache().Remove(job) }

// JobGone must be called with every Job that is gone.
func (r *Registry) JobGone(job *batchv1.Job) { r.selections.forget(job.UID) }

// Selection returns what is in force for a Job. The error is that its namespace is not known yet, or what the rules read of it.
func (r *Registry) Selection(ctx context.Context, job *batchv1.Job) (binding.Selection, error) {
	if !r.binds.Load() {
		return binding.Selection{}, nil
	}
	namespace, version, err := r.labelsOf(job.Namespace)
	if err != nil {
		return binding.Selection{}, err
	}
	next := selected{set: r.set.Load(), job: job.ResourceVersion, namespace: version, at: r.clock.Now()}
	if r.caches.LacksJob(job) {
		return binding.Selection{}, caches.LacksError(job)
	}
	if known, found := r.selections.cache().Get(job.UID); found {
		if known := known.(selected); known.is(next) { //nolint:forcetypeassert // nothing else is in there
			return known.Selection, nil
		}
	}
	next.Selection = next.set.For(ctx, caches.Unmarked(job), namespace)
	for i, p := range next.Problems { // which may cite what the Job says
		next.Problems[i] = &binding.ConditionError{Policy: p.Policy, Err: recorder.CutError(p.Err)}
	}
	if ctx.Err() == nil && job.ResourceVersion != "" { // else it may have been cut short, or nobody knows when the Job changes
		r.selections.cache().Add(job.UID, next)
	}
	return next.Selection, nil
}

// is reports whether a Selection is what a next one would be.
func (s selected) is(next selected) bool {
	return s.set == next.set && s.job == next.job && s.namespace == next.namespace &&
		(len(s.Problems) == 0 || next.at.Sub(s.at) < problemLife)
}
