package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// judgement is what was said of a failed pod. A pod is judged by the rules that were in force when its failure was seen first.
// When these change, it changes nothing for the pod: a failure that was counted would else be counted again, once its verdict
// has been another one for a while.
type judgement struct {
	program *runtime.Program // nil for no rules
	custom  bool             // whether there are rules in it that are not the Job's own
	// verdict is that of the program on the pod in this version, or nil.
	verdict *runtime.Verdict
	version string
	told    bool
}

// court gives the verdicts of a look at a Job.
type court struct {
	work      *work
	own       *runtime.Program // of the Job's podFailurePolicy, or nil
	selection binding.Selection
	// program is what is in force now, or nil.
	program *runtime.Program
	// judgements are those of this look.
	judgements map[types.UID]*judgement
}

func (w *work) newCourt(own *runtime.Program, selection binding.Selection) *court {
	return &court{
		work: w, own: own, selection: selection, program: selection.Enforced(own),
		judgements: make(map[types.UID]*judgement, len(w.judgements)),
	}
}

// rules tells whether there are any, for pods that fail now or for those that have failed.
func (c *court) rules() bool {
	if c.program != nil {
		return true
	}
	for _, j := range c.work.judgements {
		if j.program != nil {
			return true
		}
	}
	return false
}

// volatile tells whether any rules are not the Job's own: those may be others the next time, and judgements are forgotten
// with a restart.
func (c *court) volatile() bool {
	if c.custom() {
		return true
	}
	for _, j := range c.work.judgements {
		if j.custom {
			return true
		}
	}
	return false
}

// custom tells whether rules are in force that are not the Job's own.
func (c *court) custom() bool { return c.program != c.own }

// judge is the verdict on a pod in phase Failed.
func (c *court) judge(ctx context.Context, pod *corev1.Pod, attempt int64) runtime.Verdict {
	j := c.judgements[pod.UID]
	if j == nil {
		if j = c.work.judgements[pod.UID]; j == nil {
			j = &judgement{program: c.program, custom: c.custom()}
		}
		c.judgements[pod.UID] = j
	}
	if j.program == nil {
		return runtime.Unmatched(pod)
	}
	if j.verdict == nil || j.version != pod.ResourceVersion {
		v := j.program.Judge(ctx, c.input(pod, attempt))
		if ctx.Err() != nil {
			return v // cut short
		}
		v.Err, v.MessageErr = shortError(v.Err), shortError(v.MessageErr) // which may cite what the Job or the pod says
		j.verdict, j.version = &v, pod.ResourceVersion
	}
	return *j.verdict
}

func (c *court) input(pod *corev1.Pod, attempt int64) runtime.Input {
	return input(pod, c.work.job, attempt, c.work.clock.Now())
}

// adjourn tells the verdicts on pods that have failed, each once, as soon as the Plan knows whether a budget is used up, and
// remembers the judgements. The Plan also judges pods that it takes for failed, which may be something else when they are.
func (c *court) adjourn(ctx context.Context, pods []*corev1.Pod) {
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodFailed {
			continue
		}
		attempt := plan.Attempt(c.work.job, pod)
		verdict := c.judge(ctx, pod, attempt)
		j := c.judgements[pod.UID]
		if j.told || c.work.plan.Undecided[pod.UID] {
			continue
		}
		if used, found := c.work.plan.UsedUp[pod.UID]; found {
			verdict = used
		}
		would := c.would(ctx, pod, attempt)
		if ctx.Err() != nil {
			return
		}
		c.work.judged(pod, opinion{verdict: verdict, would: would})
		j.told = true
	}
	c.work.judgements = c.judgements
}

// would is what the policies that are only audited would have done to a pod, or nil if that is what was done.
func (c *court) would(ctx context.Context, pod *corev1.Pod, attempt int64) *runtime.Verdict {
	if !c.selection.Audits() {
		return nil
	}
	in := c.input(pod, attempt)
	return different(c.judge(ctx, pod, attempt), c.selection.Audited(c.own).Judge(ctx, in))
}
