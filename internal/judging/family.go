package judging

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/library"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
)

// Family is the Pods of a Job, with the rules that decide on them.
type Family struct {
	// Inputs are what rules see of the Pods, in the order of the Pods. A caller may add what it knows before it asks for verdicts.
	Inputs []runtime.Input
	// Alone are the verdicts as if no budget were used up, once JudgeAlone was called. A caller may put others in their place.
	Alone []runtime.Verdict

	job     *batchv1.Job
	pods    []*corev1.Pod
	program *runtime.Program
	at      map[string]int  // by the names of Pods
	ctx     context.Context //nolint:containedctx // of one call
}

// NewFamily numbers the Pods of a Job.
func NewFamily(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod, program *runtime.Program) *Family {
	f := &Family{
		Inputs: make([]runtime.Input, len(pods)), Alone: make([]runtime.Verdict, len(pods)),
		ctx: ctx, job: job, pods: pods, program: program,
	}
	for i, attempt := range plan.Attempts(job, pods) {
		f.Inputs[i] = runtime.Input{Pod: pods[i], Job: job, Attempt: attempt}
	}
	return f
}

// Remember gives each Pod the attempts before it, for rules that read them.
func (f *Family) Remember() {
	earlier := plan.EarlierAttempts(f.Observation())
	for i, pod := range f.pods {
		f.Inputs[i].Attempts = earlier[pod.Name]
	}
}

// JudgeAlone judges each Pod as if no budget were used up.
func (f *Family) JudgeAlone() {
	for i := range f.pods {
		f.Alone[i] = f.program.Judge(f.ctx, f.Inputs[i])
	}
}

// UsedUp returns the verdicts on the Pods that have matched a rule after its budget was used up, by their places. Budgets are used
// up in the order in which Pods finished.
func (f *Family) UsedUp() map[int]runtime.Verdict {
	if !slices.ContainsFunc(f.Alone, func(v runtime.Verdict) bool { return v.Budget.Limit > 0 }) {
		return nil
	}
	verdicts, usedUp := map[int]runtime.Verdict{}, plan.UsedUp(f.Observation())
	for i, pod := range f.pods {
		if verdict, found := usedUp[pod.Name]; found {
			verdicts[i] = verdict
		}
	}
	return verdicts
}

// Verdicts returns the verdicts on the Pods, in their order.
func (f *Family) Verdicts() []runtime.Verdict {
	f.JudgeAlone()
	verdicts := slices.Clone(f.Alone)
	for i, verdict := range f.UsedUp() {
		verdicts[i] = verdict
	}
	return verdicts
}

// Observation returns what a controller would see of the Job, with the verdicts on its Pods.
func (f *Family) Observation() plan.Observation {
	if f.at == nil {
		f.at = make(map[string]int, len(f.pods))
		for i, pod := range f.pods {
			f.at[pod.Name] = i
		}
	}
	return plan.Observation{Job: f.job, Pods: f.pods, Judge: f.judge}
}

// judge returns the verdict on a Pod as if no budget were used up.
func (f *Family) judge(pod *corev1.Pod, attempt int64, earlier func() []library.Attempt) runtime.Verdict {
	i := f.at[pod.Name]
	if known := f.Alone[i]; known.Terminal {
		return known
	}
	in := f.Inputs[i]
	in.Pod, in.Attempt, in.Attempts = pod, attempt, earlier()
	return f.program.Judge(f.ctx, in) // the Pod terminates, and counts as failed
}
