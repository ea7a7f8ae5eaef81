package podverdict

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/snapshot"
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
	enforcement enforcement
	earlier     []*corev1.Pod
}

// enforcement says who carries out the verdict, if an option does.
type enforcement int8

const (
	byCaller enforcement = iota + 1
	byNobody
)

// Enforced says whether you carry out the verdict, as a controller of Jobs does. If not, only the Job's own rules decide, because
// whatever runs the Job knows no others. The default is true.
func Enforced(enforced bool) Option {
	if enforced {
		return Option{enforcement: byCaller}
	}
	return Option{enforcement: byNobody}
}

// Earlier gives the Job's other Pods that have failed: rules with a budget count their matches over them, and rules may read
// them as attempts. Pods are told apart by their names. They have failed in the order of their finish times, and of their names
// where they have none. Without Earlier, a Pod's number comes from its name or annotations, and no budget is used up.
func Earlier(pods ...*corev1.Pod) Option { return Option{earlier: pods} }

// noJob stands for the Job of a Pod that has none. It must not be changed.
var noJob batchv1.Job

// Judge returns what a Pod's failure means for its Job. A Pod in any phase but Failed gets a verdict that is not Terminal. The
// Job may be nil, for a Pod that no Job runs; else it must have the API's defaults, as all that come from an API server.
//
// An error means that there is no verdict: the Job's rules are not legal, a match condition has failed, the context is done, or a
// Pod of several has no name. If a rule cannot be evaluated on this Pod, there is a verdict by the others, and its Err says why.
func (e *Engine) Judge(ctx context.Context, job *batchv1.Job, pod *corev1.Pod, options ...Option) (Verdict, error) {
	r, err := e.rulesOf(ctx, cmp.Or(job, &noJob))
	if err != nil {
		return Verdict{Rule: runtime.NoRule}, err
	}
	o := joined(options)
	by := r.by(o)
	if len(o.earlier) == 0 && !by.Selection.ReadsAttempts() {
		alone := snapshot.Pod{Object: pod, Attempt: plan.AttemptAlone(cmp.Or(job, &noJob), pod)}
		v := by.Effect.Acting.Judge(ctx, alone.Input(job, time.Time{}))
		if v.Budget.Limit == 0 && v.Err == nil {
			return v, nil
		}
	}
	_, v, err := o.judge(ctx, job, pod, by)
	return v, err
}

// Explain returns the verdict of Judge, and for each rule why it did or did not match, with the values that it compared.
func (e *Engine) Explain(ctx context.Context, job *batchv1.Job, pod *corev1.Pod, options ...Option) (Explanation, error) {
	r, err := e.rulesOf(ctx, cmp.Or(job, &noJob))
	if err != nil {
		return Explanation{Verdict: Verdict{Rule: runtime.NoRule}}, err
	}
	o := joined(options)
	by := r.by(o)
	s, v, err := o.judge(ctx, job, pod, by)
	if err != nil {
		return Explanation{Verdict: v}, err
	}
	explanation, err := by.Effect.Acting.Explain(ctx, s.Input(len(s.Pods)-1))
	explanation.Verdict = v
	return explanation, err
}

// judge returns the Snapshot of a Pod after the earlier ones, in which it is the last, and the verdict on it.
func (o Option) judge(ctx context.Context, job *batchv1.Job, pod *corev1.Pod, by *snapshot.Rules) (*snapshot.Snapshot, Verdict, error) {
	pods, seen := make([]snapshot.Pod, 0, len(o.earlier)+1), map[string]bool{pod.Name: true}
	for i, other := range o.earlier {
		if other.Name == "" {
			return nil, Verdict{Rule: runtime.NoRule}, fmt.Errorf("earlier Pod %d has no name: Earlier matches Pods by name", i)
		}
		if pod.Name == "" {
			return nil, Verdict{Rule: runtime.NoRule}, errors.New("the Pod has no name: Earlier matches Pods by name")
		}
		if !seen[other.Name] {
			seen[other.Name] = true
			pods = append(pods, snapshot.Pod{Object: other})
		}
	}
	s := snapshot.New(job, *by, time.Time{}, snapshot.Missing{}, append(pods, snapshot.Pod{Object: pod})...)
	v := s.Decisions(ctx)[len(pods)].Verdict
	if err := ctx.Err(); err != nil {
		return nil, Verdict{Rule: runtime.NoRule}, err
	}
	return s, v, nil
}

// joined returns what all options say; where two differ, the last one counts.
func joined(options []Option) (all Option) {
	for _, o := range options {
		all.enforcement = cmp.Or(o.enforcement, all.enforcement)
		all.earlier = append(all.earlier, o.earlier...)
	}
	return all
}

// by returns the rules that decide as the options say.
func (r *rules) by(o Option) *snapshot.Rules {
	if o.enforcement == byNobody {
		return &r.own
	}
	return &r.enforced
}
