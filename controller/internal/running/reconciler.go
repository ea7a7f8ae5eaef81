package running

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/internal/recorder"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// reconciler syncs Jobs. It is safe for concurrent use with different Jobs.
type reconciler struct {
	Options

	width int // number of parallel calls for one Job
	// free queues the pods that a Plan frees.
	free   func([]*corev1.Pod)
	states jobStates
}

// sync makes a Plan for a Job and carries it out. It returns when to sync again even if nothing changes, or 0 for never.
func (r *reconciler) sync(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	cached, found, err := r.Caches.Jobs.GetByKey(key.String())
	job, ok := cached.(*batchv1.Job)
	if err != nil || !found || !ok || !plan.Managed(job) {
		r.states.forget(key)
		return 0, err
	}
	start := r.Clock.Now()
	w := &work{reconciler: r, state: r.states.of(plan.OwnerFor(job))}
	w.job = w.state.newestJob(job)
	if caches.Excessive(w.job) && w.job.DeletionTimestamp == nil { // if it is being deleted, its pods are released
		w.warn(reasonExcessive, fmt.Sprintf("the Job has more than %d labels and annotations, and is not run", caches.MaxPairs))
		return 0, nil
	}
	var again time.Duration
	err = r.Metrics.Guard(ctx, metrics.WorkingOnJob, func() (err error) {
		again, err = w.do(ctx)
		return err
	})
	switch {
	case metrics.Panicked(err):
		w.warn(recorder.ReasonPanic, recorder.PanicNote(err))
	case err != nil, !w.changed.Load():
	case w.interrupted.Load(): // more work remains, regardless of changes in the caches
		again = time.Millisecond
	case w.plan.Urgent: // the next Plan depends on what was written
		again = r.states.coalescence(key)
	default:
		w.wait(r.patience(key))
		again = w.plan.LookAgain
	}
	r.Metrics.Synced(w.job, w.action(), err, r.Clock.Since(start))
	return again, err
}

// patience returns how long a Job waits if only counters can have changed, which are written twice per batch period.
func (r *reconciler) patience(key types.NamespacedName) time.Duration {
	return r.states.patience(key, r.Clock.Now(), r.BatchPeriod/2)
}

// work is a sync in progress.
type work struct {
	reconciler *reconciler
	state      *jobState

	job  *batchv1.Job
	plan plan.Plan
	// changed is true if a call has changed something.
	changed atomic.Bool
	// interrupted is true if calls were left to the next sync.
	interrupted atomic.Bool
}

// do observes, plans and applies.
func (w *work) do(ctx context.Context) (time.Duration, error) {
	lookup := w.lookUp(ctx)
	start := w.reconciler.Clock.Now()
	observation, evaluator, err := w.observe(ctx)
	if err != nil {
		return 0, err
	}
	changed := w.state.kept.Changed()
	w.plan = w.state.kept.Next(observation)
	if len(w.plan.Create) > 0 && caches.LacksTemplate(w.job) {
		if observation.Template, err = w.template(ctx); err != nil {
			return 0, err
		}
		w.plan = w.state.kept.Next(observation)
	}
	w.recordMistakes()
	evaluator.reportVerdicts(ctx, changed)
	if err := ctx.Err(); err != nil {
		w.state.kept.Forget()
		return 0, err // evaluations were interrupted
	}
	due := w.plan.LookAgain
	took := max(w.reconciler.Clock.Since(start), time.Duration(w.job.Status.Active)*timePerPod)
	w.state.took.Store(int64(took))
	if w.plan.NeedsCurrent && len(w.state.unknown) > 0 {
		w.wait(lookUpPeriod)
	}
	if len(w.state.returned) > 0 {
		w.wait(catchUpPeriod)
	}
	if err := errors.Join(lookup, w.apply(ctx)); err != nil {
		return due, err // failed calls are retried after a delay, but deadlines do not wait for it
	}
	if plan.Finished(w.job) {
		w.state.drop()
	}
	return w.plan.LookAgain, nil
}

// timePerPod is the minimum duration assumed for a sync, per active pod. It makes a large Job wait for more events, which one Plan and its
// calls handle in little more time than a single event.
const timePerPod = 5 * time.Microsecond

// observe returns the present state of the Job, and an evaluator for its pods.
func (w *work) observe(ctx context.Context) (plan.Observation, *evaluator, error) {
	w.state.refresh(w.reconciler.Caches)
	o := plan.Observation{
		Job: w.job, Now: w.reconciler.Clock.Now(),
		Current: len(w.state.unknown) == 0, Taken: w.state.taken, Settings: w.reconciler.Settings,
	}
	own, err := w.reconciler.Program(w.job.Spec.PodFailurePolicy)
	if err != nil {
		w.warn(recorder.ReasonInvalidPolicy, err.Error())
		return o, nil, fmt.Errorf("podFailurePolicy has no meaning, the job waits: %w", err)
	}
	selection, err := w.reconciler.Selection(ctx, w.job)
	if err != nil || ctx.Err() != nil {
		return o, nil, cmp.Or(err, ctx.Err()) // a match condition was interrupted
	}
	lacks := func(pod *corev1.Pod) bool { return !selection.Empty() && w.reconciler.Caches.LacksPod(pod) }
	changed := w.state.kept.Changed()
	if i := slices.IndexFunc(changed, lacks); i >= 0 {
		return o, nil, caches.LacksError(changed[i])
	}
	w.recordProblems(selection.Problems)
	c := w.newEvaluator(own, selection)
	o.Volatile, o.ReadsAttempts = c.volatile(), selection.ReadsAttempts()
	if c.ruled() {
		o.Judge = func(pod *corev1.Pod, attempt int64, earlier func() []cel.Attempt) runtime.Verdict {
			return c.judge(ctx, pod, attempt, earlier)
		}
	}
	return o, c, nil
}

// recordProblems records one event for each match condition that could not be evaluated.
func (w *work) recordProblems(problems []*binding.ConditionError) {
	for _, problem := range problems {
		text := problem.Error()
		if !w.state.problems.add(text) {
			continue
		}
		// The recorder merges events about an unchanged Job unless they have different related objects.
		w.reconciler.Recorder.Eventf(w.job, policyReference(problem.Policy), corev1.EventTypeWarning, reasonMatchCondition, recorder.Action, "%s", text)
	}
}

// recordMistakes records one event for each invalid annotation. When a Plan starts the Job, it already includes such events.
func (w *work) recordMistakes() {
	for _, problem := range w.plan.Problems {
		if w.state.problems.add(problem.Error()) && w.job.Status.StartTime != nil {
			w.warn(plan.ReasonInvalidAnnotation, problem.Error())
		}
	}
}

// catchUpPeriod is the delay before the next sync while the caches lag behind the writes. Changes of a pod trigger a sync of its Job, but
// not if another client removed the pod from the Job before the caches received it.
const catchUpPeriod = 10 * time.Second

// wait makes the Job sync again after the period at the latest.
func (w *work) wait(period time.Duration) {
	if w.plan.LookAgain == 0 || period < w.plan.LookAgain {
		w.plan.LookAgain = period
	}
}

// action returns the kind of work done by the sync, in upstream's terms.
func (w *work) action() string {
	switch {
	case len(w.plan.Delete)+len(w.plan.Dismiss) > 0:
		return metrics.ActionPodsDeleted
	case len(w.plan.Create) > 0:
		return metrics.ActionPodsCreated
	case len(w.state.unknown) > 0:
		return metrics.ActionReconciling
	}
	return metrics.ActionTracking
}
