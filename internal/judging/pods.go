package judging

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/library"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
)

// Family is the Pods of a Job, with the rules that decide on them.
type Family struct {
	job     *batchv1.Job
	pods    []*corev1.Pod
	program *runtime.Program
	inputs  map[string]runtime.Input // by the names of Pods
	alone   map[string]runtime.Verdict
	ctx     context.Context //nolint:containedctx // of one call
}

// NewFamily numbers the Pods of a Job, and gives each the attempts before it if rules read them.
func NewFamily(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod, program *runtime.Program, readsAttempts bool) *Family {
	f := &Family{
		ctx: ctx, job: job, pods: pods, program: program,
		inputs: make(map[string]runtime.Input, len(pods)), alone: make(map[string]runtime.Verdict, len(pods)),
	}
	for i, attempt := range plan.Attempts(job, pods) {
		f.inputs[pods[i].Name] = runtime.Input{Pod: pods[i], Job: job, Attempt: attempt}
	}
	if readsAttempts {
		earlier := plan.EarlierAttempts(f.observation())
		for name, in := range f.inputs {
			in.Attempts = earlier[name]
			f.inputs[name] = in
		}
	}
	return f
}

// Input returns what rules see of a Pod.
func (f *Family) Input(pod *corev1.Pod) runtime.Input { return f.inputs[pod.Name] }

// Verdicts returns the verdicts on the Pods, in their order. Budgets are used up in the order in which Pods finished.
func (f *Family) Verdicts() []runtime.Verdict {
	verdicts, budgets := make([]runtime.Verdict, len(f.pods)), false
	for i, pod := range f.pods {
		verdicts[i] = f.program.Judge(f.ctx, f.Input(pod))
		f.alone[pod.Name] = verdicts[i]
		budgets = budgets || verdicts[i].Budget.Limit > 0
	}
	if !budgets {
		return verdicts
	}
	usedUp := plan.UsedUp(f.observation())
	for i, pod := range f.pods {
		if verdict, found := usedUp[pod.Name]; found {
			verdicts[i] = verdict
		}
	}
	return verdicts
}

func (f *Family) observation() plan.Observation {
	return plan.Observation{Job: f.job, Pods: f.pods, Judge: f.judge}
}

// judge returns the verdict on a Pod as if no budget were used up.
func (f *Family) judge(pod *corev1.Pod, attempt int64, earlier func() []library.Attempt) runtime.Verdict {
	if known := f.alone[pod.Name]; known.Terminal {
		return known
	}
	in := f.inputs[pod.Name]
	in.Pod, in.Attempt, in.Attempts = pod, attempt, earlier()
	return f.program.Judge(f.ctx, in)
}
