// Package explain implements the verb explain, which explains rule by rule why a Pod got its verdict.
package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/verdicts"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// errNoPods ends a verb whose input has no Pods, and whose arguments name no scenario.
var errNoPods = errors.New("no Pods in the input: give them beside the Job, as in explain job.yaml pods.yaml, or name " +
	`a scenario, as in explain job.yaml oom-killed ("podverdict test scenarios" lists them)`)

type options struct {
	input  verdicts.Options
	output cli.Format
}

// New returns the verb explain.
func New(p *cli.Program) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "explain {FILE... [POD... | SCENARIO...] | TYPE/NAME... | TYPE [NAME...]}",
		Short: "Say rule by rule why a Pod got its verdict",
		Long: `Say rule by rule why a Pod got its verdict: which rule matched and which did
not, because of which container, exit code or condition, with the values of
sub-expressions and the cost of evaluating them.

Files and objects of a cluster are given as for eval. With files, names after
them select Pods; without Pods in the files, a name is that of a scenario.
` + verdicts.CustomHelp + cli.ConnectionHelp,
		Example: `  podverdict explain pod/demo-7xk2p
  podverdict explain job/demo -o json
  podverdict explain pod/demo-7xk2p --policy new.yaml
  podverdict explain job.yaml pods.yaml
  podverdict explain job.yaml pods/ demo-7xk2p -o json
  podverdict explain job.yaml oom-killed
  podverdict explain -f job.yaml -f pods.yaml -f policy.yaml --now 2026-11-22T06:00:00Z`,
		RunE: cli.Run(p, &o, run),
	}
	o.input.AddFlags(p, cmd)
	o.input.Uncompared = true
	objects := cmd.ValidArgsFunction
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if o.input.Source.FromFiles() {
			return cli.CompleteScenarios(cmd, nil, word)
		}
		return objects(cmd, args, word)
	}
	p.AddFormat(cmd, &o.output, "text", "json", "yaml")
	return cmd
}

// run reads Jobs with their Pods, plans them, explains each verdict, and prints the explanations.
func run(ctx context.Context, c *cli.Console, o *options, args []string) (err error) {
	var names []string
	if args = o.input.Source.TakeFiles(args); o.input.Source.FromFiles() {
		names, args = args, nil
	}
	in, err := o.input.Read(ctx, c, args)
	defer in.Close() //nolint:staticcheck // it is to be closed also after an error
	defer func() { err = cli.JoinUnread(in.Unread, err) }()
	if err != nil {
		return err
	}
	if in.Scenarios && len(names) == 0 {
		return errNoPods
	}
	list, err := explainAll(ctx, c, o, &in, names)
	if err != nil {
		return err
	}
	if o.output.IsObject() {
		return o.output.WriteObject(c.Stdout, list)
	}
	if in.Nothing != "" {
		c.Note(in.Nothing)
	}
	for i, item := range list.Items {
		if i > 0 {
			fmt.Fprintln(c.Stdout)
		}
		item.print(c.Stdout)
	}
	return nil
}

type explanationList struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Items      []explanationItem `json:"items"`
	Jobs       []jobExplanation  `json:"jobs,omitempty"` // only with custom policies
}

// jobExplanation lists the custom policies in force for a Job, and the reasons why others are not.
type jobExplanation struct {
	Job      manifest.Reference   `json:"job,omitzero"`
	Policies []binding.Membership `json:"policies"`
}

type explanationItem struct {
	verdicts.Item
	Rules   []explainedRule `json:"rules,omitempty"`
	Attempt int64           `json:"attempt,omitempty"` // number of the Pod's attempt at its index; absent where no custom policy is in force
	// Earlier are the attempts before the Pod, if rules look at them.
	Earlier []cel.Attempt `json:"earlierAttempts,omitempty"`
	// Forgotten is the number of unknown earlier attempts, if rules look at them.
	Forgotten int `json:"attemptsNotKnown,omitempty"`

	recorded bool                       // the verdict comes from a line of history
	manager  string                     // manager of the Job
	custom   bool                       // at least one custom policy is in force
	would    []*runtime.RuleExplanation // rules that decide Would; nil for rules that are in Rules
	absent   []binding.Membership       // policies that are not in force for the Job
}

// explainedRule is the explanation of a rule. Place is the position of its expression, or of the whole rule of a podFailurePolicy; nil
// when the rule was not read from a file.
type explainedRule struct {
	runtime.RuleExplanation
	Place *rulePlace `json:"place,omitempty"`
}

// rulePlace is a position in a file. Lines and columns, in characters, count from 1.
type rulePlace struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// place sets the positions of rules.
func place(p *verdicts.Plan, rules []explainedRule) {
	for i := range rules {
		rule := &rules[i]
		var at manifest.Position
		if rule.Policy == "" && p.Rules.Policy == p.Stored.Spec.PodFailurePolicy { // otherwise it comes from --policy
			at = p.Job.Origin.Position(fmt.Sprintf("spec.podFailurePolicy.rules[%d]", rule.Rule))
		}
		for _, policy := range p.Planner.Custom.All {
			if rule.Policy == policy.Object.Name && rule.Policy != "" {
				at = policy.Origin.Position(fmt.Sprintf("spec.rules[%d].when", rule.Rule))
			}
		}
		if at.Line > 0 {
			rule.Place = &rulePlace{at.File, at.Line, at.Column}
		}
	}
}

// explainAll explains the verdicts on the chosen Pods, and for each of their Jobs which custom policies are in effect.
func explainAll(ctx context.Context, c *cli.Console, o *options, in *verdicts.Input, names chosenPods) (explanationList, error) {
	list := explanationList{APIVersion: print.APIVersion, Kind: "ExplanationList", Items: []explanationItem{}}
	var plans []*verdicts.Plan
	var known []string
	for one, err := range in.Judge(ctx, c, &o.input) {
		if err != nil {
			return list, err
		}
		if in.Scenarios {
			plans = append(plans, one.Plan)
		}
		for _, item := range one.Items {
			known = append(known, item.Pod.Name)
		}
		if err := list.add(ctx, one, names); err != nil {
			return list, err
		}
	}
	if missing := names.missing(known); missing != "" && in.Scenarios {
		return list, verdicts.ErrScenario(missing, plans)
	} else if missing != "" {
		return list, errors.New(cli.UnknownName("pod", missing, known))
	}
	return list, nil
}

// add adds the explanations of the chosen Pods of a Job.
func (l *explanationList) add(ctx context.Context, one *verdicts.Judged, chosen chosenPods) error {
	p := one.Plan
	if !slices.ContainsFunc(one.Items, chosen.has) {
		return nil
	}
	policies, err := p.Planner.Custom.Explain(ctx, p.Stored)
	if err != nil {
		return err
	}
	if len(policies) > 0 {
		l.Jobs = append(l.Jobs, jobExplanation{Job: one.Job, Policies: policies})
	}
	one.AddMatches()
	for n := range one.Items {
		if !chosen.has(one.Items[n]) {
			continue
		}
		item, err := explainPod(ctx, one, n)
		if err != nil {
			return p.Pods[n].Origin.Error("", err.Error())
		}
		item.absent = absent(policies)
		place(p, item.Rules)
		l.Items = append(l.Items, item)
	}
	return nil
}

// absent returns the policies that are not in force, the closest to being in force first.
func absent(policies []binding.Membership) []binding.Membership {
	inForce := map[string]bool{}
	for _, m := range policies {
		inForce[m.Policy] = inForce[m.Policy] || m.Outcome == binding.InForce
	}
	var all []binding.Membership
	for _, outcome := range []binding.Outcome{binding.ConditionNotMet, binding.JobNotSelected, binding.NamespaceNotSelected} {
		for _, m := range policies {
			if m.Outcome == outcome && !inForce[m.Policy] {
				all = append(all, m)
			}
		}
	}
	return all
}

// explainPod explains the verdict on the Pod at an index.
func explainPod(ctx context.Context, one *verdicts.Judged, i int) (explanationItem, error) {
	p, pod := one.Plan, &one.Plan.Snapshot.Pods[i]
	item := explanationItem{
		Item: one.Items[i], recorded: pod.Recorded != nil, manager: p.Rules.Effect.Manager, custom: !p.Rules.Selection.Empty(),
	}
	item.JobSet, item.Scenario = cmp.Or(item.JobSet, one.JobSet), ""
	if item.custom {
		item.Attempt, item.Earlier, item.Forgotten = pod.Attempt, pod.Earlier, p.Snapshot.Decisions(ctx)[i].EarlierUnknown
	}
	for _, would := range item.Would {
		decider, err := p.Snapshot.ExplainWould(ctx, i, would)
		if err != nil {
			return explanationItem{}, err
		}
		item.would = append(item.would, decider)
	}
	rules, err := p.Snapshot.Explain(ctx, i)
	for _, rule := range rules {
		item.Rules = append(item.Rules, explainedRule{RuleExplanation: rule})
	}
	return item, err
}

// chosenPods are the names of Pods to explain (NAME or pod/NAME); without names, all Pods are chosen.
type chosenPods []string

func (c chosenPods) has(item verdicts.Item) bool {
	name := item.Pod.Name
	return len(c) == 0 || slices.Contains(c, name) || slices.Contains(c, "pod/"+name)
}

// missing returns the first name that no Pod has, or "".
func (c chosenPods) missing(known []string) string {
	for _, name := range c {
		if name = strings.TrimPrefix(name, "pod/"); !slices.Contains(known, name) {
			return name
		}
	}
	return ""
}
