package repair

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/kube/restart"
	"github.com/podverdict/podverdict/internal/kube/scenarios"
	"github.com/podverdict/podverdict/runtime"
)

// proven returns an error if a repair of Job i has changed other verdicts and lives than it is about: where a rule for disruptions
// was moved to the front, Pods that it matches are now decided by it.
func (o Options) proven(ctx context.Context, before, after *manifest.Set, i int, f findings.Finding) error {
	for j := range before.Jobs {
		old, fixed := life{before.Jobs[j].Stored(), o.program(&before.Jobs[j])}, life{after.Jobs[j].Stored(), o.program(&after.Jobs[j])}
		meant := j == i && f.Check == compiler.CheckDisruptionOrder
		switch {
		case !sameVerdicts(ctx, old, fixed, meant):
			return errChanges
		case j == i && !sameLives(ctx, old, fixed, f):
			return errLives
		}
	}
	return nil
}

// sameVerdicts reports whether rules decide as before, except on disruptions if those are meant.
func sameVerdicts(ctx context.Context, old, fixed life, disruptions bool) bool {
	if old.program == nil || fixed.program == nil {
		return old.program == fixed.program
	}
	return !slices.ContainsFunc(pods(old.job), func(pod *corev1.Pod) bool {
		was, is := old.program.Evaluate(ctx, pod), fixed.program.Evaluate(ctx, pod)
		meant := disruptions && is.Condition == corev1.DisruptionTarget
		return !meant && (was.Action != is.Action || was.Matched != is.Matched || was.Counted != is.Counted)
	})
}

// program compiles a Job's rules, also those that the API server would refuse. It returns nil for a Job without rules.
func (o Options) program(job *manifest.Job) *runtime.Program {
	policy := job.Stored().Spec.PodFailurePolicy
	if policy == nil {
		return nil
	}
	compiled, err := o.Environment.Compile(compiler.StoredPolicy(policy))
	if err != nil {
		return nil
	}
	return runtime.NewProgram(compiled)
}

// pods returns the Pods of all scenarios, and for each exit code that a rule names one in which each container ended with it.
func pods(job *batchv1.Job) []*corev1.Pod {
	var all []*corev1.Pod
	for i := range scenarios.All {
		all = append(all, scenarios.All[i].Pod(job, restart.Gates{})) // as in versions without restart rules, where more Pods fail
	}
	for _, rule := range job.Spec.PodFailurePolicy.Rules {
		if rule.OnExitCodes == nil {
			continue
		}
		for _, code := range rule.OnExitCodes.Values {
			for _, c := range job.Spec.Template.Spec.Containers {
				if s := (scenarios.Exit{Container: c.Name, Code: code}).Scenario(job); s != nil {
					all = append(all, s.Pod(job, restart.Gates{}))
				}
			}
		}
	}
	return all
}
