package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/internal/effective"
)

// proveHints withdraws hints of a policy whose proposals do not work. It compiles each proposal in its place, and runs it on the
// scenarios of a Job.
func proveHints(ctx context.Context, environment *compiler.Environment, p *effective.Policy, job *batchv1.Job) {
	for i := range p.Findings {
		if f := &p.Findings[i]; f.Instead != "" && !proven(ctx, environment, p, *f, job) {
			f.Hint = f.Otherwise
		}
	}
}

// proven reports whether a finding's proposal compiles in place of the faulty expression, removes the finding, and behaves correctly on
// scenarios.
func proven(ctx context.Context, environment *compiler.Environment, p *effective.Policy, f compiler.Finding, job *batchv1.Job) bool {
	given, changed := p.Policy, p.Policy
	given.Object, f.Field = alone(p.Object, f)
	changed.Object = given.Object.DeepCopy()
	expression := expressionAt(&changed.Object.Spec, f.Field)
	if expression == nil {
		return false
	}
	*expression = f.Instead
	was, is := effective.Compile(environment, given), effective.Compile(environment, changed)
	again := slices.ContainsFunc(is.Findings, func(other compiler.Finding) bool {
		return other.Check == f.Check && other.Field == f.Field && other.Message == f.Message
	})
	fixed := 0
	if f.Severity == compiler.Error {
		fixed = 1
	}
	if again || countErrors(is.Findings) > countErrors(was.Findings)-fixed {
		return false
	}
	return was.Compiled == nil || is.Compiled == nil || agree(ctx, &was, &is, f, job)
}

// alone returns the policy reduced to the rule of a finding, and the finding's field in it. Errors in other rules do not affect the
// proposal.
func alone(p *v1alpha1.PodFailurePolicy, f compiler.Finding) (*v1alpha1.PodFailurePolicy, string) {
	if f.Rule == compiler.NoRule || f.Rule >= len(p.Spec.Rules) {
		return p, f.Field
	}
	reduced := p.DeepCopy()
	reduced.Spec.Rules = reduced.Spec.Rules[f.Rule : f.Rule+1]
	return reduced, strings.Replace(f.Field, fmt.Sprintf("rules[%d]", f.Rule), "rules[0]", 1)
}

// agree reports whether the changed policy can be evaluated wherever the original could. If no other field may be absent, it must succeed
// on all scenarios. If the finding is only about errors, it must also match the same Pods.
func agree(ctx context.Context, was, is *effective.Policy, f compiler.Finding, job *batchv1.Job) bool {
	tried := attempts(was.Compiled)
	before, after := try(ctx, was.Compiled, job, tried), try(ctx, is.Compiled, job, tried)
	for i := range min(len(before), len(after)) {
		for j, r := range after[i].rules {
			old := before[i].rules[j]
			failed := r.Error != "" && (old.Error == "" || keepsVerdicts(f) && !guarded(is.Findings, r.Rule))
			differs := r.Error == "" && (old.Error == "" && r.Holds != old.Holds || old.Error != "" && r.Holds)
			if failed || keepsVerdicts(f) && differs {
				return false
			}
		}
	}
	return true
}

func countErrors(findings []compiler.Finding) (n int) {
	for _, f := range findings {
		if f.Severity == compiler.Error {
			n++
		}
	}
	return n
}

// keepsVerdicts reports whether a finding's proposal must change nothing but errors: an absent field then matches nothing.
func keepsVerdicts(f compiler.Finding) bool {
	return f.Check == custom.CheckAbsent || f.Check == custom.CheckGuard
}

// expressionAt returns the expression at a field of a policy, or nil.
func expressionAt(spec *v1alpha1.PodFailurePolicySpec, field string) *string {
	all := map[string]*string{}
	for i := range spec.MatchConditions {
		all[fmt.Sprintf("spec.matchConditions[%d].expression", i)] = &spec.MatchConditions[i].Expression
	}
	for i := range spec.Variables {
		all[fmt.Sprintf("spec.variables[%d].expression", i)] = &spec.Variables[i].Expression
	}
	for i := range spec.Rules {
		all[fmt.Sprintf("spec.rules[%d].when", i)] = &spec.Rules[i].When
		all[fmt.Sprintf("spec.rules[%d].messageExpression", i)] = &spec.Rules[i].MessageExpression
	}
	return all[field]
}
