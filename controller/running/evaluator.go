package running

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/compiler/library"
	"github.com/podverdict/podverdict/controller/caches"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/controller/recorder"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// cachedVerdict is the verdict on a failed pod, and the rules that gave it. A pod keeps the rules that were in force when its
// failure was first seen. Otherwise a counted failure could be counted again when its verdict changes.
type cachedVerdict struct {
	program *runtime.Program // nil for no rules
	custom  bool             // the program has rules that are not the Job's own
	// verdict is the program's verdict on this version of the pod, or nil.
	verdict  *runtime.Verdict
	version  string
	reported bool
	// node is the pod's node when the pod was first evaluated: what happens to the node later changes no verdict.
	node      *corev1.Node
	nodesRead bool
}

// evaluator evaluates a Job's pods during one sync.
type evaluator struct {
	work   *work
	own    *runtime.Program // of the Job's podFailurePolicy, or nil
	effect binding.Effect
	// verdicts are the verdicts of this sync, by pod UID.
	verdicts map[types.UID]*cachedVerdict
}

func (w *work) newEvaluator(own *runtime.Program, selection binding.Selection) *evaluator {
	return &evaluator{
		work: w, own: own, effect: selection.Effect(binding.Manager(w.job), own),
		verdicts: make(map[types.UID]*cachedVerdict, len(w.state.verdicts)),
	}
}

// rules reports whether rules apply to pods that fail now or to those that have failed.
func (e *evaluator) rules() bool {
	if e.effect.Acting != nil {
		return true
	}
	for _, cached := range e.work.state.verdicts {
		if cached.program != nil {
			return true
		}
	}
	return false
}

// volatile reports whether some rules are not the Job's own. Such rules may change, and the cached verdicts are lost in a
// restart.
func (e *evaluator) volatile() bool {
	if e.custom() {
		return true
	}
	for _, cached := range e.work.state.verdicts {
		if cached.custom {
			return true
		}
	}
	return false
}

// custom reports whether rules are in force that are not the Job's own.
func (e *evaluator) custom() bool { return e.effect.Acting != e.own }

// judge returns the verdict on a failed pod.
func (e *evaluator) judge(ctx context.Context, pod *corev1.Pod, attempt int64, earlier func() []library.Attempt) runtime.Verdict {
	cached := e.cached(pod)
	if cached.program == nil {
		return runtime.Unmatched(pod)
	}
	if cached.verdict == nil || cached.version != pod.ResourceVersion {
		v := cached.program.Judge(ctx, e.input(pod, attempt, earlier()))
		if ctx.Err() != nil {
			return v // interrupted
		}
		v.Err, v.MessageErr = recorder.CutError(v.Err), recorder.CutError(v.MessageErr) // errors may quote the Job or the pod
		cached.verdict, cached.version = &v, pod.ResourceVersion
	}
	return *cached.verdict
}

// cached returns what is kept of a failed pod from the first evaluation on.
func (e *evaluator) cached(pod *corev1.Pod) *cachedVerdict {
	cached := e.verdicts[pod.UID]
	if cached == nil {
		if cached = e.work.state.verdicts[pod.UID]; cached == nil {
			cached = &cachedVerdict{program: e.effect.Acting, custom: e.custom()}
			cached.node, cached.nodesRead = e.work.reconciler.Caches.NodeOf(pod)
		}
		e.verdicts[pod.UID] = cached
	}
	return cached
}

func (e *evaluator) input(pod *corev1.Pod, attempt int64, earlier []library.Attempt) runtime.Input {
	in := caches.Input(pod, e.work.job, attempt, e.work.reconciler.Clock.Now())
	cached := e.cached(pod)
	in.Node, in.NodesRead, in.Attempts = cached.node, cached.nodesRead, earlier
	return in
}

// reportVerdicts passes on the verdict on each failed pod, once, as soon as the Plan knows whether a budget is used up. It
// then caches the verdicts for the next sync. The Plan also evaluates pods that count as failed before they have ended; these
// get no event yet.
func (e *evaluator) reportVerdicts(ctx context.Context, o plan.Observation) {
	all := sync.OnceValue(func() map[string][]library.Attempt { return plan.EarlierAttempts(o) })
	for _, pod := range o.Pods {
		if pod.Status.Phase != corev1.PodFailed {
			continue
		}
		attempt := plan.Attempt(e.work.job, pod)
		earlier := func() []library.Attempt {
			if !o.ReadsAttempts {
				return nil
			}
			return all()[pod.Name]
		}
		verdict := e.judge(ctx, pod, attempt, earlier)
		cached := e.cached(pod)
		if cached.reported || e.work.plan.Undecided[pod.UID] {
			continue
		}
		if used, found := e.work.plan.UsedUp[pod.UID]; found {
			verdict = used
		}
		would := e.effect.Beside(ctx, e.input(pod, attempt, earlier()), e.judge(ctx, pod, attempt, earlier)).Would
		if ctx.Err() != nil {
			return
		}
		e.work.reconciler.Judged(pod, verdict, would)
		cached.reported = true
	}
	e.work.state.verdicts = e.verdicts
}
