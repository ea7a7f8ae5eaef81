package podverdict

import (
	"cmp"
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/judging"
	"github.com/podverdict/podverdict/runtime"
)

type (
	// Verdict is what a Pod's failure means. Its JSON form is that of `podverdict eval -o json`.
	Verdict = runtime.Verdict
	// Explanation is a Verdict with what each rule saw.
	Explanation = runtime.Explanation
)

// Option says something about the Pod that is judged, or about who judges it.
type Option struct {
	notEnforced bool
	earlier     []*corev1.Pod
}

// Enforced says whether you carry out the verdict, as a controller of Jobs does. If not, only the Job's own rules decide, because
// whatever runs the Job knows no others. The default is true.
func Enforced(enforced bool) Option { return Option{notEnforced: !enforced} }

// Earlier gives the Job's other Pods that have failed: rules with a budget count their matches over them, and rules may read
// them as attempts. Without them, a Pod's number comes from its name or annotations, and no budget is used up.
func Earlier(pods ...*corev1.Pod) Option { return Option{earlier: pods} }

// noJob stands for the Job of a Pod that has none. It must not be changed.
var noJob batchv1.Job

// Judge returns what a Pod's failure means for its Job. A Pod in any phase but Failed gets a verdict that is not Terminal. The
// Job may be nil, for a Pod that no Job runs; else it must have the API's defaults, as all that come from an API server.
//
// An error means that there is no verdict: the Job's rules are not legal, or a match condition has failed. A rule that fails on
// this Pod is told in the verdict's Err: it never picks an action.
func (e *Engine) Judge(ctx context.Context, job *batchv1.Job, pod *corev1.Pod, options ...Option) (Verdict, error) {
	r, err := e.rulesOf(ctx, cmp.Or(job, &noJob))
	if err != nil {
		return Verdict{Rule: runtime.NoRule}, err
	}
	o := joined(options)
	program := r.program(o)
	if readsAttempts := r.readsAttempts && program != r.own; len(o.earlier) == 0 && !readsAttempts {
		v := program.Judge(ctx, runtime.Input{Pod: pod, Job: job, Attempt: plan.AttemptAlone(cmp.Or(job, &noJob), pod)})
		if v.Budget.Limit == 0 {
			return v, nil
		}
	}
	v, _ := o.judge(ctx, job, pod, r)
	return v, nil
}

// Explain returns the verdict of Judge, and for each rule why it did or did not match, with the values that it compared.
func (e *Engine) Explain(ctx context.Context, job *batchv1.Job, pod *corev1.Pod, options ...Option) (Explanation, error) {
	r, err := e.rulesOf(ctx, cmp.Or(job, &noJob))
	if err != nil {
		return Explanation{Verdict: Verdict{Rule: runtime.NoRule}}, err
	}
	o := joined(options)
	v, in := o.judge(ctx, job, pod, r)
	explanation, err := r.program(o).Explain(ctx, in)
	explanation.Verdict = v
	return explanation, err
}

// judge judges a Pod after the earlier ones, and returns what the rules saw of it.
func (o Option) judge(ctx context.Context, job *batchv1.Job, pod *corev1.Pod, r *rules) (Verdict, runtime.Input) {
	others := slices.DeleteFunc(slices.Clone(o.earlier), func(other *corev1.Pod) bool { return other.Name == pod.Name })
	program := r.program(o)
	family := judging.NewFamily(ctx, cmp.Or(job, &noJob), append(others, pod), program)
	for i := range family.Inputs {
		family.Inputs[i].Job = job
	}
	if r.readsAttempts && program != r.own {
		family.Remember()
	}
	return family.Verdicts()[len(others)], family.Inputs[len(others)]
}

func joined(options []Option) (all Option) {
	for _, o := range options {
		all.notEnforced = all.notEnforced || o.notEnforced
		all.earlier = append(all.earlier, o.earlier...)
	}
	return all
}

func (r *rules) program(o Option) *runtime.Program {
	if o.notEnforced {
		return r.own
	}
	return r.enforced
}
