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

// proveHints takes back the hints of a policy whose proposals do not do: each is compiled in its place, and run on the scenarios of
// a Job before it is given.
func proveHints(ctx context.Context, environment *compiler.Environment, p *effective.Policy, job *batchv1.Job) {
	for i := range p.Findings {
		if f := &p.Findings[i]; f.Instead != "" && !proven(ctx, environment, p, *f, job) {
			f.Hint = f.Otherwise
		}
	}
}

// proven reports whether the expression that a finding is about compiles with what is proposed, without the finding, and does on
// scenarios what it should.
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

// alone returns a policy without rules that a finding is not about, and the field of the finding in it: what is wrong with others
// says nothing of a proposal.
func alone(p *v1alpha1.PodFailurePolicy, f compiler.Finding) (*v1alpha1.PodFailurePolicy, string) {
	if f.Rule == compiler.NoRule || f.Rule >= len(p.Spec.Rules) {
		return p, f.Field
	}
	reduced := p.DeepCopy()
	reduced.Spec.Rules = reduced.Spec.Rules[f.Rule : f.Rule+1]
	return reduced, strings.Replace(f.Field, fmt.Sprintf("rules[%d]", f.Rule), "rules[0]", 1)
}

// agree reports whether a policy with a proposal can be evaluated wherever it could without, and on all scenarios if nothing else in it
// may be absent; and whether it matches the same Pods if the finding is about errors alone.
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

// keepsVerdicts reports whether what a finding proposes is to change nothing but errors: a field that is absent then matches nothing.
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
