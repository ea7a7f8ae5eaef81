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
	// Verdict is the meaning of a Pod's failure for its Job. Its JSON form is the output of `podverdict eval -o
	// json`.
	Verdict = runtime.Verdict
	// Explanation is a Verdict with the reasons why each rule did or did not match.
	Explanation = runtime.Explanation
)

// Option configures Judge and Explain for one Pod.
type Option struct {
	enforcement enforcement
	earlier     []*corev1.Pod
}

// enforcement is the value of the option Enforced; zero means that the option is not set.
type enforcement int8

const (
	byCaller enforcement = iota + 1
	byNobody
)

// Enforced sets whether the caller carries out the verdict, as a controller of Jobs does. If not, only the Job's own
// rules decide, because the controller that runs the Job knows no other rules. The default is true.
func Enforced(enforced bool) Option {
	if enforced {
		return Option{enforcement: byCaller}
	}
	return Option{enforcement: byNobody}
}

// Earlier adds the Job's other failed Pods. Rules with a budget count their matches over these Pods, and rules may read them as
// attempts. Pods are identified by name. They are ordered by finish time, and by name if they have none. Without Earlier, the
// attempt number of a Pod comes from its name or annotations, and budgets are unused.
func Earlier(pods ...*corev1.Pod) Option { return Option{earlier: pods} }

// noJob replaces the Job of a Pod that has none. It must not be modified.
var noJob batchv1.Job

// Judge returns the meaning of a Pod's failure for its Job. A Pod in any phase but Failed gets a verdict that is not
// Terminal. The Job may be nil for a Pod that no Job runs; otherwise it must have the API's defaults, as every Job
// from an API server has.
//
// An error means that there is no verdict: the Job's rules are invalid, a match condition failed, the context is
// done, or Earlier is used with an unnamed Pod. If a rule cannot be evaluated on this Pod, the other rules decide,
// and the verdict's Err has the reason.
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

// Explain returns the verdict of Judge, and the reason why each rule did or did not match, with the values that it
// compared.
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

// judge returns a Snapshot with the earlier Pods followed by the given Pod, and the verdict on the given Pod.
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

// joined merges options. The last Enforced wins, and the Pods of every Earlier are joined.
func joined(options []Option) (all Option) {
	for _, o := range options {
		all.enforcement = cmp.Or(o.enforcement, all.enforcement)
		all.earlier = append(all.earlier, o.earlier...)
	}
	return all
}

// by returns the rules that apply under the options.
func (r *rules) by(o Option) *snapshot.Rules {
	if o.enforcement == byNobody {
		return &r.own
	}
	return &r.enforced
}
