package repair

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/controller/simulation"
	"github.com/podverdict/podverdict/runtime"
)

type life struct {
	job     *batchv1.Job
	program *runtime.Program
}

// sameLives reports whether a Job lives as it did before a repair. Of a suggestion, which is about failures and time, only a Job
// without failures does.
func sameLives(ctx context.Context, before, after life, f findings.Finding) bool {
	scripts := []simulation.Script{{}}
	if repairs[f.Check] != nil {
		scripts = append(scripts, failing(before.job, f)...)
	}
	return !slices.ContainsFunc(scripts, func(script simulation.Script) bool { return before.end(ctx, script) != after.end(ctx, script) })
}

// failing returns scripts in which the first Pods of a Job fail: in each way that its rules name, but for what a finding is about.
func failing(job *batchv1.Job, f findings.Finding) (scripts []simulation.Script) {
	add := func(way simulation.Rule) { scripts = append(scripts, simulation.Script{Pods: []simulation.Rule{way}}) }
	three, codes := new(intstr.FromString("1-3")), []int32{1}
	if policy := job.Spec.PodFailurePolicy; policy != nil {
		for _, rule := range policy.Rules {
			if rule.OnExitCodes != nil && len(rule.OnExitCodes.Values) > 0 {
				codes = append(codes, rule.OnExitCodes.Values[0])
			}
		}
	}
	for _, code := range codes {
		add(simulation.Rule{Attempt: three, ExitCode: &code})
	}
	add(simulation.Rule{Attempt: three, OOM: true})
	if f.Check != compiler.CheckDisruptionOrder {
		add(simulation.Rule{Attempt: three, Condition: string(corev1.DisruptionTarget)})
	}
	return scripts
}

// end simulates an hour of a life with at most two Pods at a time, and returns how and when it ends.
func (l life) end(ctx context.Context, script simulation.Script) string {
	job := l.job.DeepCopy()
	for _, size := range []*int32{job.Spec.Parallelism, job.Spec.Completions} {
		if size != nil {
			*size = min(*size, 2)
		}
	}
	r, err := simulation.Run(ctx, simulation.Options{Job: job, Program: l.program, Script: script, Until: time.Hour})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(r.Outcome, " ", r.Reason, " after ", r.Seconds, " s, ", r.Summary.Pods, " Pods")
}
