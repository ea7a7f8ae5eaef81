package policies

import (
	"context"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/internal/recorder"
	"github.com/podverdict/podverdict/runtime/binding"
)

// selections caches the policies in effect for a Job. Match conditions are thus evaluated once for each version of the Job,
// its namespace and the policies, for all loops. An entry is kept until the Job is deleted, for at most maxSelections Jobs.
type selections struct {
	once   sync.Once
	recent *lru.Cache // selected by UID of the Job
}

// selected is a Selection with the versions it depends on.
type selected struct {
	binding.Selection

	set            *binding.Set
	job, namespace string // resource versions
	at             time.Time
}

const (
	// maxSelections is the number of Jobs for which a Selection is cached.
	maxSelections = 20_000
	// problemLife is how long a Selection with problems is cached. An evaluation that ran out of time may succeed the next
	// time.
	problemLife = time.Minute
)

func (s *selections) cache() *lru.Cache {
	s.once.Do(func() { s.recent = lru.New(maxSelections) })
	return s.recent
}

func (s *selections) forget(job types.UID) { s.cache().Remove(job) }

// JobGone must be called for every deleted Job.
func (r *Registry) JobGone(job *batchv1.Job) { r.selections.forget(job.UID) }

// Selection returns the policies in effect for a Job. It returns an error if its namespace, or a field that the rules read,
// is not known yet.
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
		if known := known.(selected); known.is(next) { //nolint:forcetypeassert // nothing else is stored
			return known.Selection, nil
		}
	}
	next.Selection = next.set.For(ctx, caches.Unmarked(job), namespace)
	for i, p := range next.Problems { // problems may quote the Job
		next.Problems[i] = &binding.ConditionError{Policy: p.Policy, Err: recorder.CutError(p.Err)}
	}
	if ctx.Err() == nil && job.ResourceVersion != "" { // otherwise, it may be incomplete, or a change of the Job would go unnoticed
		r.selections.cache().Add(job.UID, next)
	}
	return next.Selection, nil
}

// is reports whether a cached Selection is still valid.
func (s selected) is(next selected) bool {
	return s.set == next.set && s.job == next.job && s.namespace == next.namespace &&
		(len(s.Problems) == 0 || next.at.Sub(s.at) < problemLife)
}
