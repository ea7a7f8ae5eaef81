package running

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/controller/caches"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/controller/recorder"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// cachedVerdict is the verdict on a failed pod, and the rules that gave it. A pod keeps the rules that were in force when its
// failure was first seen, whatever is in force later. Otherwise a failure that was counted could be counted again when its
// verdict changes.
type cachedVerdict struct {
	program *runtime.Program // nil for no rules
	custom  bool             // whether there are rules in it that are not the Job's own
	// verdict is that of the program on the pod in this version, or nil.
	verdict  *runtime.Verdict
	version  string
	reported bool
}

// evaluator gives the verdicts of one look at a Job.
type evaluator struct {
	work   *work
	own    *runtime.Program // of the Job's podFailurePolicy, or nil
	effect binding.Effect
	// verdicts are the verdicts of this look, by the UID of the pod.
	verdicts map[types.UID]*cachedVerdict
}

func (w *work) newEvaluator(own *runtime.Program, selection binding.Selection) *evaluator {
	return &evaluator{
		work: w, own: own, effect: selection.Effect(binding.Manager(w.job), own),
		verdicts: make(map[types.UID]*cachedVerdict, len(w.state.verdicts)),
	}
}

// rules reports whether there are any, for pods that fail now or for those that have failed.
func (c *evaluator) rules() bool {
	if c.effect.Acting != nil {
		return true
	}
	for _, j := range c.work.state.verdicts {
		if j.program != nil {
			return true
		}
	}
	return false
}

// volatile reports whether some rules are not the Job's own. Such rules may change, and a restart forgets the verdicts.
func (c *evaluator) volatile() bool {
	if c.custom() {
		return true
	}
	for _, j := range c.work.state.verdicts {
		if j.custom {
			return true
		}
	}
	return false
}

// custom reports whether rules are in force that are not the Job's own.
func (c *evaluator) custom() bool { return c.effect.Acting != c.own }

// judge returns the verdict on a pod in phase Failed.
func (c *evaluator) judge(ctx context.Context, pod *corev1.Pod, attempt int64) runtime.Verdict {
	j := c.verdicts[pod.UID]
	if j == nil {
		if j = c.work.state.verdicts[pod.UID]; j == nil {
			j = &cachedVerdict{program: c.effect.Acting, custom: c.custom()}
		}
		c.verdicts[pod.UID] = j
	}
	if j.program == nil {
		return runtime.Unmatched(pod)
	}
	if j.verdict == nil || j.version != pod.ResourceVersion {
		v := j.program.Judge(ctx, c.input(pod, attempt))
		if ctx.Err() != nil {
			return v // cut short
		}
		v.Err, v.MessageErr = recorder.CutError(v.Err), recorder.CutError(v.MessageErr) // which may cite what the Job or the pod says
		j.verdict, j.version = &v, pod.ResourceVersion
	}
	return *j.verdict
}

func (c *evaluator) input(pod *corev1.Pod, attempt int64) runtime.Input {
	return caches.Input(pod, c.work.job, attempt, c.work.reconciler.Clock.Now())
}

// reportVerdicts passes on the verdict on each failed pod, once, as soon as the Plan knows whether a budget is used up. It then
// keeps the verdicts for the next look. The Plan also judges pods that count as failed before they have ended; these have no
// event yet.
func (c *evaluator) reportVerdicts(ctx context.Context, pods []*corev1.Pod) {
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodFailed {
			continue
		}
		attempt := plan.Attempt(c.work.job, pod)
		verdict := c.judge(ctx, pod, attempt)
		j := c.verdicts[pod.UID]
		if j.reported || c.work.plan.Undecided[pod.UID] {
			continue
		}
		if used, found := c.work.plan.UsedUp[pod.UID]; found {
			verdict = used
		}
		would := c.effect.Beside(ctx, c.input(pod, attempt), c.judge(ctx, pod, attempt)).Would
		if ctx.Err() != nil {
			return
		}
		c.work.reconciler.Judged(pod, verdict, would)
		j.reported = true
	}
	c.work.state.verdicts = c.verdicts
}
