package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/inforce"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime"
)

// lintOptions are the flags of lint.
type lintOptions struct {
	source     source
	kubernetes string
	output     format
}

func newLint() *cobra.Command {
	var o lintOptions
	cmd := &cobra.Command{
		Use:   "lint {TYPE/NAME... | TYPE [NAME...] | -f JOB|POLICY}",
		Short: "Find rules that cannot match, or do not do what they seem to",
		Long: `Find rules of spec.podFailurePolicy that cannot match, or are likely to do something else than meant: rules that an
earlier one leaves nothing, exit codes of sidecars, failures that are ignored for ever. Exits with 1 when there are
findings. A podFailurePolicy that the API server would refuse is an error.

In files, PodFailurePolicies and PodFailurePolicyBindings (podverdict.io) are looked at, too, with or without Jobs: whether
their expressions compile, and do what their authors mean; and what they do to the Jobs of the input that they are bound
to. As in eval, policies that no binding of the input names are bound to all Jobs of the input.

Jobs and CronJobs come from files given with -f, or from a cluster: job/NAME, cronjob/NAME, or jobs, cronjobs or
jobs,cronjobs for all of the namespace. -l selects among these, and with -A or -l alone Jobs are meant.
` + connectionHelp,
		Example: `  podverdict lint job/demo
  podverdict lint jobs,cronjobs -A
  podverdict lint -f job.yaml
  podverdict lint -f policy.yaml -f binding.yaml
  podverdict lint -R -f manifests/ -o sarif > lint.sarif
  podverdict lint -f job.yaml -o github`,
		RunE: verb(&o, lint),
	}
	o.source.addFlags(cmd.Flags(), cluster.Job, cluster.CronJob)
	addKubernetesFlag(cmd.Flags(), &o.kubernetes)
	addFormat(cmd, &o.output, report.Formats()...)
	return cmd
}

// lintChecks describes the checks for reports that list them.
func lintChecks() map[string]string {
	return map[string]string{
		compiler.CheckUnreachable:     "An earlier rule takes every Pod that this rule could match.",
		compiler.CheckShadowed:        "An earlier rule takes some of the Pods that this rule asks for.",
		compiler.CheckDisruptionOrder: "A DisruptionTarget rule stands after an exit-code rule that disrupted Pods meet already.",
		compiler.CheckSidecar:         "A NotIn rule matches the exit codes of sidecars that were told to stop.",
		compiler.CheckUnboundedIgnore: "Pods that fail in this way are replaced for ever.",
		compiler.CheckFailIndexLimit:  "FailIndex needs backoffLimitPerIndex.",

		checkInvalid:          "The API server would refuse the custom policy or its binding.",
		checkNoPolicy:         "The policy that is bound is not in the input.",
		checkIndexBudget:      "A budget per index is that of the Job where there are no indexes.",
		checkPendingIgnored:   "Rules on Pending have no effect unless a binding has pendingPods: Delete.",
		custom.CheckLimit:     "The policy has more, or longer, expressions than is allowed.",
		custom.CheckSyntax:    "The expression is not CEL.",
		custom.CheckType:      "The expression uses what is not there, or has another type than is wanted.",
		custom.CheckVariable:  "The expression uses a variable that there is not, or not yet.",
		custom.CheckCycle:     "Variables use one another in a circle.",
		custom.CheckCost:      "Evaluating the expression may cost more than is allowed.",
		custom.CheckPlan:      "The expression cannot be planned.",
		custom.CheckConstruct: "The expression makes an object of a type that is not known.",
		custom.CheckGuard:     "A presence test itself fails when what it looks into is absent.",
		custom.CheckAbsent:    "The expression fails when a field is absent.",
		custom.CheckNever:     "The rule can never match.",
		custom.CheckDeadPart:  "A part of the expression is never true.",
		custom.CheckAlways:    "The rule leaves nothing to the rules after it.",
	}
}

// lint reads Jobs and custom policies, compiles them, looks for rules that do not do what they seem to, and prints findings.
func lint(ctx context.Context, c *console, o *lintOptions, args []string) error {
	set, err := readLinted(ctx, c, o, args)
	if err != nil {
		return err
	}
	if _, err := compileJobs(o.kubernetes, set.Jobs); err != nil {
		return err
	}
	r := report.Report{Tool: "lint", Checks: lintChecks()}
	for _, job := range set.Jobs {
		s := jobSubject(job)
		for _, f := range compiler.Lint(job.Object) {
			s.Findings = append(s.Findings, ownFinding(job.Origin, f))
		}
		r.Subjects = append(r.Subjects, s)
	}
	if err := lintCustom(ctx, o.kubernetes, set, &r); err != nil {
		return err
	}
	return printReport(c, r, o.output)
}

// readLinted reads Jobs and, from files, custom policies.
func readLinted(ctx context.Context, c *console, o *lintOptions, args []string) (*manifest.Set, error) {
	if !o.source.fromFiles() {
		jobs, err := o.source.readJobs(ctx, c, args)
		return &manifest.Set{Jobs: jobs}, err
	}
	if err := o.source.parse(c, args); err != nil {
		return nil, err
	}
	return readPolicyFiles(ctx, c, o.source.files)
}

// Checks of custom policies besides those of their compiler.
const (
	checkInvalid        = "invalid-field"
	checkNoPolicy       = "missing-policy"
	checkIndexBudget    = "budget-without-indexes"
	checkPendingIgnored = "pending-ignored"
)

// customLint looks at the custom policies of an input.
type customLint struct {
	set      *manifest.Set
	inForce  *inforce.Policies
	policies map[string]*report.Subject // by their names
	origins  map[string]manifest.Origin
}

// lintCustom adds findings about custom policies, their bindings, and the Jobs for which they are in force.
func lintCustom(ctx context.Context, kubernetes string, set *manifest.Set, r *report.Report) error {
	environment, err := compiler.NewEnvironment(kubernetes)
	if err != nil {
		return err
	}
	source := inforce.FromFiles(set)
	inForce, _ := inforce.New(environment, source) // the errors are findings
	all := inForce.All
	c := customLint{set: set, inForce: inForce, policies: map[string]*report.Subject{}, origins: map[string]manifest.Origin{}}
	jobs := len(r.Subjects)
	r.Subjects = append(r.Subjects, make([]report.Subject, len(all))...)
	for i := range all {
		name, s := all[i].Object.Name, &r.Subjects[jobs+i]
		*s = policySubject(&all[i])
		c.policies[name], c.origins[name] = s, all[i].Origin
		if all[i].Compiled != nil {
			c.pending(all[i].Object)
		}
	}
	for i, job := range set.Jobs {
		c.job(ctx, job, job.Stored(), &r.Subjects[i])
	}
	for _, s := range c.policies {
		inFileOrder(s.Findings)
	}
	missing := source.Missing()
	for _, b := range set.Bindings {
		r.Subjects = append(r.Subjects, bindingSubject(b, missing))
	}
	return nil
}

// policySubject returns a policy with the findings that do not depend on Jobs.
func policySubject(p *inforce.Policy) report.Subject {
	o := p.Origin
	s := report.Subject{Kind: v1alpha1.KindPodFailurePolicy, Name: p.Object.Name, File: o.Document.File}
	for _, e := range p.Invalid {
		s.Findings = append(s.Findings, invalidFinding(o, e))
	}
	for _, f := range p.Findings {
		s.Findings = append(s.Findings, customFinding(o, f))
	}
	return s
}

func bindingSubject(b manifest.Binding, missing []manifest.Binding) report.Subject {
	s := report.Subject{Kind: v1alpha1.KindPodFailurePolicyBinding, Name: b.Object.Name, File: b.Origin.Document.File}
	for _, e := range b.Object.Validate() {
		s.Findings = append(s.Findings, invalidFinding(b.Origin, e))
	}
	for _, other := range missing {
		if other.Object == b.Object && b.Object.Spec.PolicyName != "" {
			s.Findings = append(s.Findings, finding(b.Origin, checkNoPolicy, compiler.Error, "spec.policyName", inforce.BindsNothing(b), ""))
		}
	}
	inFileOrder(s.Findings)
	return s
}

// ruleFinding adds a warning about a rule of a custom policy.
func (c *customLint) ruleFinding(policy, check string, rule int, name, path, message, hint string) {
	s, path := c.policies[policy], fmt.Sprintf("spec.rules[%d].%s", rule, path)
	f := finding(c.origins[policy], check, compiler.Warning, path, message, hint)
	f.Rule, f.RuleName = &rule, name
	s.Findings = append(s.Findings, f)
}

// pending finds rules on Pending of policies whose bindings all leave Pending Pods alone.
func (c *customLint) pending(p *v1alpha1.PodFailurePolicy) {
	var names []string
	for _, b := range c.set.Bindings {
		if b.Object.Spec.PolicyName == p.Name {
			names = append(names, b.Object.Name)
			if b.Object.Spec.PendingPods == v1alpha1.PendingPodsDelete {
				return
			}
		}
	}
	for i, r := range p.Spec.Rules {
		if r.Phase == corev1.PodPending && len(names) > 0 {
			c.ruleFinding(p.Name, checkPendingIgnored, i, r.Name, "phase",
				fmt.Sprintf("rule %s is on Pending, and no binding of the policy deletes such Pods (%s)", r.Name, strings.Join(names, ", ")),
				"set pendingPods: Delete in a binding")
		}
	}
}

// job looks at the policies in force for a Job.
func (c *customLint) job(ctx context.Context, job manifest.Job, stored *batchv1.Job, s *report.Subject) {
	name := fmt.Sprintf("%s/%s", stored.Namespace, stored.Name)
	indexed := *stored.Spec.CompletionMode == batchv1.IndexedCompletion
	selection, _ := c.inForce.For(ctx, stored)
	for p, b := range selection.All() {
		for i := range p.Rules {
			r := &p.Rules[i]
			if path := failsIndex(r); path != "" && (!indexed || stored.Spec.BackoffLimitPerIndex == nil) {
				c.ruleFinding(p.Name, compiler.CheckFailIndexLimit, i, r.Name, path,
					fmt.Sprintf("FailIndex is no more than Count for Job %s, which has no backoffLimitPerIndex", name),
					"set spec.backoffLimitPerIndex in the Job, with completionMode Indexed")
			}
			if r.Budget != nil && r.Budget.Per == v1alpha1.PerIndex && !indexed {
				c.ruleFinding(p.Name, checkIndexBudget, i, r.Name, "budget.per",
					fmt.Sprintf("the budget is one of the whole Job %s, which has no indexes", name),
					"set per: Job in the budget, or spec.completionMode: Indexed in the Job")
			}
		}
		always := p.Compiled.AlwaysMatching()
		if always != custom.NoRule && b.Spec.Position == v1alpha1.PositionBefore && b.Spec.Mode == v1alpha1.ModeEnforce {
			s.Findings = append(s.Findings, hidden(job, p, always)...)
		}
	}
}

// failsIndex returns the field of a rule that asks for FailIndex, or "".
func failsIndex(r *v1alpha1.Rule) string {
	switch {
	case r.Action == batchv1.PodFailurePolicyActionFailIndex:
		return "action"
	case r.Budget != nil && r.Budget.Then == batchv1.PodFailurePolicyActionFailIndex:
		return "budget.then"
	}
	return ""
}

// hidden returns findings about the Job's own rules, which stand after a rule that always matches.
func hidden(job manifest.Job, p *runtime.Policy, always int) []report.Finding {
	if job.Object.Spec.PodFailurePolicy == nil {
		return nil
	}
	var all []report.Finding
	for i := range job.Object.Spec.PodFailurePolicy.Rules {
		f := finding(job.Origin, compiler.CheckUnreachable, compiler.Warning, fmt.Sprintf("%s.rules[%d]", manifest.PolicyField, i),
			fmt.Sprintf("rule %s of PodFailurePolicy %s stands before this rule and matches every failed Pod", p.Rules[always].Name, p.Name),
			"bind the policy with position: After")
		f.Rule = &i
		all = append(all, f)
	}
	return all
}
