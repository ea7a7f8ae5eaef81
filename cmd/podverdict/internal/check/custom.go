package check

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/didyoumean"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/kube/scenarios"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// customPolicies are the custom policies of an input under inspection.
type customPolicies struct {
	set      *manifest.Set
	inForce  *effective.Policies
	policies map[string]*findings.Subject // by policy name
	origins  map[string]manifest.Origin
	uses     map[string][]use
}

// inspectCustom adds custom policies and bindings with their findings. It adds findings about the policies in force for a Job to the Job.
func inspectCustom(ctx context.Context, kubernetes string, set *manifest.Set, jobs []findings.Subject) ([]findings.Subject, error) {
	environment, err := compiler.NewEnvironment(kubernetes)
	if err != nil {
		return nil, err
	}
	source := effective.FromFiles(set)
	inForce, _ := effective.New(environment, source) // the errors are findings
	all := inForce.All
	c := customPolicies{
		set: set, inForce: inForce, policies: map[string]*findings.Subject{}, origins: map[string]manifest.Origin{}, uses: map[string][]use{},
	}
	subjects := slices.Concat(jobs, make([]findings.Subject, len(all)))
	bound := boundJobs(ctx, inForce, set.Jobs)
	for i := range all {
		name, s := all[i].Object.Name, &subjects[len(jobs)+i]
		job := bound[name]
		if job == nil {
			job = scenarios.PlainJob()
		}
		proveHints(ctx, environment, &all[i], job)
		*s = policySubject(&all[i])
		c.policies[name], c.origins[name] = s, all[i].Origin
		if all[i].Compiled != nil {
			c.reported(all[i].Object)
			s.Findings = append(s.Findings, dryRun(ctx, &all[i], job)...)
		}
	}
	for i, job := range set.Jobs {
		c.job(ctx, job, job.Stored(), &subjects[i])
	}
	for i := range all {
		if all[i].Compiled != nil {
			c.used(all[i].Compiled)
		}
	}
	for _, idle := range inForce.Idle(ctx, set.Jobs) {
		s := c.policies[idle.Policy]
		f := newFinding(c.origins[idle.Policy], checkIdle, compiler.Warning, "spec.rules", idle.String(), idle.Hint)
		s.Findings = append(s.Findings, f)
	}
	for _, s := range c.policies {
		inFileOrder(s.Findings)
	}
	missing := source.Missing()
	for _, b := range set.Bindings {
		subjects = append(subjects, bindingSubject(b, missing))
	}
	return subjects, nil
}

// boundJobs maps each policy's name to the first Job of the input that the policy is in force for.
func boundJobs(ctx context.Context, inForce *effective.Policies, jobs []manifest.Job) map[string]*batchv1.Job {
	bound := map[string]*batchv1.Job{}
	for _, job := range jobs {
		if len(bound) == len(inForce.All) {
			break
		}
		stored := job.Stored()
		selection, _ := inForce.For(ctx, stored)
		for p := range selection.All() {
			if bound[p.Name] == nil {
				bound[p.Name] = stored
			}
		}
	}
	return bound
}

// policySubject returns a policy with the findings that do not depend on Jobs.
func policySubject(p *effective.Policy) findings.Subject {
	o := p.Origin
	s := findings.Subject{Kind: v1alpha1.KindPodFailurePolicy, Name: p.Object.Name, File: o.Document.File}
	for _, e := range p.Invalid {
		s.Findings = append(s.Findings, invalidFinding(o, e))
	}
	for _, f := range p.Findings {
		s.Findings = append(s.Findings, compilerFinding(o, f))
	}
	return s
}

func bindingSubject(b manifest.Binding, missing []manifest.Binding) findings.Subject {
	s := findings.Subject{Kind: v1alpha1.KindPodFailurePolicyBinding, Name: b.Object.Name, File: b.Origin.Document.File}
	for _, e := range b.Object.Validate() {
		s.Findings = append(s.Findings, invalidFinding(b.Origin, e))
	}
	for _, other := range missing {
		if other.Object == b.Object && b.Object.Spec.PolicyName != "" {
			s.Findings = append(s.Findings, newFinding(b.Origin, checkNoPolicy, compiler.Error, "spec.policyName", effective.BindsNothing(b), ""))
		}
	}
	inFileOrder(s.Findings)
	return s
}

// ruleFinding adds a warning about a rule of a custom policy.
func (c *customPolicies) ruleFinding(policy, check string, rule int, name, path, message, hint string) {
	s, path := c.policies[policy], fmt.Sprintf("spec.rules[%d].%s", rule, path)
	f := newFinding(c.origins[policy], check, compiler.Warning, path, message, hint)
	f.Rule, f.RuleName = &rule, name
	s.Findings = append(s.Findings, f)
}

// job inspects the policies in force for a Job.
func (c *customPolicies) job(ctx context.Context, job manifest.Job, stored *batchv1.Job, s *findings.Subject) {
	name := fmt.Sprintf("%s/%s", stored.Namespace, stored.Name)
	indexed := *stored.Spec.CompletionMode == batchv1.IndexedCompletion
	selection, _ := c.inForce.For(ctx, stored)
	s.Findings = append(s.Findings, c.neverSet(job)...)
	for p, b := range selection.All() {
		c.uses[p.Name] = append(c.uses[p.Name], use{stored, b})
		acts := binding.Manager(stored) == v1alpha1.JobController
		for i := range p.Rules {
			r := &p.Rules[i]
			if v1alpha1.Lives(r.Phase) && !acts {
				continue // only the Job's own rules decide what the end of the Pod means
			}
			if path := failsIndex(r); path != "" && (!indexed || stored.Spec.BackoffLimitPerIndex == nil) {
				c.ruleFinding(p.Name, compiler.CheckFailIndexLimit, i, r.Name, path,
					fmt.Sprintf("FailIndex is no more than Count for Job %s, which has no backoffLimitPerIndex", name),
					"set spec.backoffLimitPerIndex in the Job, with completionMode Indexed")
			}
			c.budget(p.Name, i, r, stored)
			c.outlivesQueue(p.Name, i, r, stored)
			c.retry(p.Name, i, r, use{stored, b})
			if r.Budget != nil && r.Budget.Per == v1alpha1.PerIndex && !indexed {
				c.ruleFinding(p.Name, checkIndexBudget, i, r.Name, "budget.per",
					fmt.Sprintf("the budget is one of the whole Job %s, which has no indexes", name),
					"set per: Job in the budget, or spec.completionMode: Indexed in the Job")
			}
		}
		c.containerNames(p, stored)
		always := p.Compiled.AlwaysMatching()
		if acts && always != compiler.NoRule && b.Spec.Position == v1alpha1.PositionBefore && b.Spec.Mode == v1alpha1.ModeEnforce {
			s.Findings = append(s.Findings, hidden(job, p, always)...)
		}
	}
}

// budget finds budgets that are never used up, because the counted failures exceed a limit of the Job first.
func (c *customPolicies) budget(policy string, i int, r *v1alpha1.Rule, job *batchv1.Job) {
	if r.Budget == nil || r.Action != batchv1.PodFailurePolicyActionCount {
		return
	}
	limit, field := job.Spec.BackoffLimit, "backoffLimit"
	if job.Spec.BackoffLimitPerIndex != nil {
		limit, field = job.Spec.BackoffLimitPerIndex, "backoffLimitPerIndex"
		if r.Budget.Per != v1alpha1.PerIndex {
			return // the failures of all indexes count
		}
	}
	if limit == nil || r.Budget.Limit <= *limit {
		return
	}
	c.ruleFinding(policy, checkBudget, i, r.Name, "budget.limit",
		fmt.Sprintf("the budget of %d is never used up in Job %s/%s: more than %d counted failures exceed its %s",
			r.Budget.Limit, job.Namespace, job.Name, *limit, field),
		fmt.Sprintf("set a limit of %d or less, or raise %s", *limit, field))
}

// containerNames finds container names that a Job lacks but that resemble one of its containers.
func (c *customPolicies) containerNames(p *runtime.Policy, job *batchv1.Job) {
	known := containerNames(job)
	s, o := c.policies[p.Name], c.origins[p.Name]
	for _, x := range p.Compiled.Expressions() {
		for _, name := range x.ContainerNames() {
			meant := compiler.Misspelt(name.Text, known)
			if meant == "" {
				continue
			}
			f := findings.Finding{
				Check: compiler.CheckMisspelt, Severity: string(compiler.Warning), Field: x.Field, Hint: didyoumean.DidYouMean(meant),
				Message: fmt.Sprintf("Job %s/%s has no container %q", job.Namespace, job.Name, name.Text),
			}
			s.Findings = append(s.Findings, f.Placed(o, o.PositionIn(x.Field, name.Line, name.Column)))
		}
	}
}

// failsIndex returns the field of a rule that sets FailIndex, or "".
func failsIndex(r *v1alpha1.Rule) string {
	switch {
	case r.Action == batchv1.PodFailurePolicyActionFailIndex:
		return "action"
	case r.Budget != nil && r.Budget.Then == batchv1.PodFailurePolicyActionFailIndex:
		return "budget.then"
	}
	return ""
}

// hidden returns findings about the Job's own rules, which are unreachable after a rule that always matches.
func hidden(job manifest.Job, p *runtime.Policy, always int) []findings.Finding {
	if job.Object.Spec.PodFailurePolicy == nil {
		return nil
	}
	var all []findings.Finding
	for i := range job.Object.Spec.PodFailurePolicy.Rules {
		f := newFinding(job.Origin, compiler.CheckUnreachable, compiler.Warning, fmt.Sprintf("%s.rules[%d]", manifest.PolicyField, i),
			fmt.Sprintf("rule %s of PodFailurePolicy %s stands before this rule and matches every failed Pod", p.Rules[always].Name, p.Name),
			"bind the policy with position: After")
		f.Rule = &i
		all = append(all, f)
	}
	return all
}
