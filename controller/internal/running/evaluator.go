package running

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/internal/recorder"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// cachedVerdict is the verdict on a failed pod, and the rules that produced it. A pod keeps the rules that were in effect when its failure
// was first observed. Otherwise a counted failure could be counted again when its verdict changes.
type cachedVerdict struct {
	program *runtime.Program // nil if there are no rules
	custom  bool             // the program includes rules that are not the Job's own
	// verdict is the program's verdict on this version of the pod, or nil.
	verdict  *runtime.Verdict
	version  string
	reported bool
	// node is the pod's node at the first evaluation. Later changes to the node change no verdict.
	node      *corev1.Node
	nodesRead bool
}

// verdicts holds the verdicts on the failed pods of a Job, by UID.
type verdicts struct {
	cached map[types.UID]*cachedVerdict
	// unreported are the failed pods whose verdict has not been reported yet.
	unreported map[types.UID]*corev1.Pod
	// ruled is the number of pods evaluated by rules, and custom the number evaluated by rules that are not the Job's own.
	ruled, custom int
}

func newVerdicts() verdicts {
	return verdicts{cached: map[types.UID]*cachedVerdict{}, unreported: map[types.UID]*corev1.Pod{}}
}

func (v *verdicts) add(pod types.UID, cached *cachedVerdict) {
	v.cached[pod] = cached
	v.count(cached, 1)
}

func (v *verdicts) forget(pod types.UID) {
	if cached := v.cached[pod]; cached != nil {
		v.count(cached, -1)
	}
	delete(v.cached, pod)
	delete(v.unreported, pod)
}

// forgetOthers forgets all pods except the given ones.
func (v *verdicts) forgetOthers(there map[types.UID]bool) {
	for pod := range v.cached {
		if !there[pod] {
			v.forget(pod)
		}
	}
}

func (v *verdicts) count(cached *cachedVerdict, pods int) {
	if cached.program != nil {
		v.ruled += pods
	}
	if cached.custom {
		v.custom += pods
	}
}

// evaluator evaluates a Job's pods during one sync.
type evaluator struct {
	work  *work
	rules snapshot.Rules
}

func (w *work) newEvaluator(own *runtime.Program, selection binding.Selection) *evaluator {
	return &evaluator{work: w, rules: snapshot.RulesIn(w.job, own, selection)}
}

// ruled reports whether rules apply to pods that fail now or to pods that have failed.
func (e *evaluator) ruled() bool {
	return e.rules.Effect.Acting != nil || e.work.state.verdicts.ruled > 0
}

// volatile reports whether some rules are not the Job's own. Such rules may change, and the cached verdicts are lost in a restart.
func (e *evaluator) volatile() bool { return e.custom() || e.work.state.verdicts.custom > 0 }

// custom reports whether rules are in effect that are not the Job's own.
func (e *evaluator) custom() bool { return e.rules.Effect.Acting != e.rules.Own }

// judge returns the verdict on a failed pod.
func (e *evaluator) judge(ctx context.Context, pod *corev1.Pod, attempt int64, earlier func() []cel.Attempt) runtime.Verdict {
	cached := e.cached(pod)
	if cached.program == nil {
		return runtime.Unmatched(pod)
	}
	if cached.verdict == nil || cached.version != pod.ResourceVersion {
		rules := e.rules
		rules.Effect.Acting = cached.program
		v := e.snapshot(rules, snapshot.Pod{Object: pod, Attempt: attempt, Earlier: earlier()}).Decisions(ctx)[0].Alone
		if ctx.Err() != nil {
			return v // interrupted
		}
		v.Err, v.MessageErr = recorder.CutError(v.Err), recorder.CutError(v.MessageErr) // errors may quote the Job or the pod
		cached.verdict, cached.version = &v, pod.ResourceVersion
	}
	return *cached.verdict
}

// cached returns the cached state of a failed pod, creating it at the first evaluation.
func (e *evaluator) cached(pod *corev1.Pod) *cachedVerdict {
	cached := e.work.state.verdicts.cached[pod.UID]
	if cached == nil {
		cached = &cachedVerdict{program: e.rules.Effect.Acting, custom: e.custom()}
		cached.node, cached.nodesRead = e.work.reconciler.Caches.NodeOf(pod)
		e.work.state.verdicts.add(pod.UID, cached)
	}
	return cached
}

// snapshot returns the Snapshot of the Job and a failed pod with the node as it was at the first evaluation.
func (e *evaluator) snapshot(rules snapshot.Rules, pod snapshot.Pod) *snapshot.Snapshot {
	cached := e.cached(pod.Object)
	pod.Node, pod.NodesRead = cached.node, cached.nodesRead
	return caches.Snapshot(e.work.job, rules, e.work.reconciler.Clock.Now(), pod)
}

// reportVerdicts passes on the verdict on each failed pod once, as soon as the Plan knows whether a budget is used up. The Plan also
// evaluates pods that count as failed before they have ended. These get no event yet.
func (e *evaluator) reportVerdicts(ctx context.Context, changed []*corev1.Pod) {
	unreported := e.work.state.verdicts.unreported
	for _, pod := range changed {
		if pod.Status.Phase == corev1.PodFailed && !e.cached(pod).reported {
			unreported[pod.UID] = pod
		}
	}
	for _, pod := range unreported {
		attempt := plan.Attempt(e.work.job, pod)
		earlier := func() []cel.Attempt { return e.work.state.kept.EarlierAttempts(pod) }
		verdict := e.judge(ctx, pod, attempt, earlier)
		if e.work.plan.Undecided[pod.UID] {
			continue
		}
		if used, found := e.work.plan.UsedUp[pod.UID]; found {
			verdict = used
		}
		judged := e.judge(ctx, pod, attempt, earlier)
		would := e.snapshot(e.rules, snapshot.Pod{Object: pod, Attempt: attempt, Earlier: earlier(), Recorded: &judged}).Beside(ctx, 0).Would
		if ctx.Err() != nil {
			return
		}
		e.work.reconciler.Judged(pod, verdict, would)
		e.cached(pod).reported = true
		delete(unreported, pod.UID)
	}
}
