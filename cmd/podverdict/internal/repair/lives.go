package repair

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/controller/simulation"
	"github.com/podverdict/podverdict/runtime"
)

// lifeTime is how long a simulated Job lives at most, and lifeSize how many Pods it has.
const (
	lifeTime = time.Hour
	lifeSize = 2
)

// life is a Job with its rules.
type life struct {
	job     *batchv1.Job
	program *runtime.Program
}

// sameLives reports whether a Job lives as it did before a repair. Of a suggestion, which is about failures and time, only a Job
// without failures does.
func sameLives(ctx context.Context, before, after life, f report.Finding) bool {
	scripts := []simulation.Script{{}}
	if repairs[f.Check] != nil {
		scripts = append(scripts, failing(before.job, f)...)
	}
	for _, script := range scripts {
		if before.end(ctx, script) != after.end(ctx, script) {
			return false
		}
	}
	return true
}

// failing returns scripts in which the first Pods of a Job fail: in each way that its rules name, but for what a finding is about.
func failing(job *batchv1.Job, f report.Finding) []simulation.Script {
	first, three := intstr.FromInt32(1), intstr.FromString("1-3")
	codes := []int32{1}
	if policy := job.Spec.PodFailurePolicy; policy != nil {
		for _, rule := range policy.Rules {
			if rule.OnExitCodes != nil && len(rule.OnExitCodes.Values) > 0 {
				codes = append(codes, rule.OnExitCodes.Values[0])
			}
		}
	}
	ways := []simulation.Rule{{Attempt: &first, OOM: true}}
	for _, code := range codes {
		ways = append(ways, simulation.Rule{Attempt: &three, ExitCode: &code})
	}
	if f.Check != compiler.CheckDisruptionOrder {
		ways = append(ways, simulation.Rule{Attempt: &first, Condition: string(corev1.DisruptionTarget)})
	}
	scripts := make([]simulation.Script, len(ways))
	for i, way := range ways {
		scripts[i].Pods = []simulation.Rule{way}
	}
	return scripts
}

// end is how a life ends.
type end struct {
	outcome, reason string
	seconds         int64
	pods            int
	err             string
}

func (l life) end(ctx context.Context, script simulation.Script) end {
	job := l.job.DeepCopy()
	for _, size := range []*int32{job.Spec.Parallelism, job.Spec.Completions} {
		if size != nil {
			*size = min(*size, lifeSize)
		}
	}
	result, err := simulation.Run(ctx, simulation.Options{Job: job, Program: l.program, Script: script, Until: lifeTime})
	if err != nil {
		return end{err: err.Error()}
	}
	return end{outcome: result.Outcome, reason: result.Reason, seconds: result.Seconds, pods: result.Summary.Pods}
}
