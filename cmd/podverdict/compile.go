package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/parser"
	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/terminal"
)

type compilation struct {
	input  input
	output format
}

func newCompile() *cobra.Command {
	var c compilation
	cmd := &cobra.Command{
		Use:   "compile -f JOB|POLICY",
		Short: "Show the CEL of a Job's rules, and of custom policies",
		Long: `Show the CEL that the rules of spec.podFailurePolicy compile to, one expression a rule: it is true of the variable
pod when the rule matches, and the first rule that matches decides. The expressions are portable: they run unchanged in
the API server's CEL environment.

The cost is what evaluating the expression takes at most, in the API server's units, beside what it may take.

Of a PodFailurePolicy (podverdict.io) the expressions are shown as they are written, with their types and costs: of match
conditions, of variables, and of rules with their messages. No Job is needed.`,
		Example: `  podverdict compile -f job.yaml
  podverdict compile -f job.yaml -o json --kubernetes 1.30
  podverdict compile -f policy.yaml`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.input.addFlags(cmd)
	addFormat(cmd, &c.output, "cel", "yaml", "json")
	return cmd
}

// policyList has an item for each Job, then one for each custom policy.
type policyList struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Items      []any  `json:"items"`
}

type policyItem struct {
	Job        reference  `json:"job"`
	Kubernetes string     `json:"kubernetes"`
	Rules      []ruleItem `json:"rules"`
}

type ruleItem struct {
	Rule       int                            `json:"rule"`
	Action     batchv1.PodFailurePolicyAction `json:"action"`
	Expression string                         `json:"expression"`
	Cost       costItem                       `json:"cost"`
}

// costItem is in the API server's units, for a pod within the compiler's bounds.
type costItem struct {
	Max   uint64 `json:"max"`
	Limit uint64 `json:"limit"`
}

func (c *compilation) run(cmd *cobra.Command) error {
	policies, custom, err := c.readPolicies(cmd)
	if err != nil {
		return err
	}
	if c.output.name == "cel" {
		return c.print(cmd.OutOrStdout(), policies, custom)
	}
	list := policyList{APIVersion: apiVersion, Kind: "CompiledPolicyList"}
	for _, p := range policies {
		item := policyItem{Job: c.input.jobReference(p.job), Kubernetes: p.compiled.Environment.Kubernetes, Rules: []ruleItem{}}
		for i, rule := range p.compiled.Rules {
			source, err := rule.Source()
			if err != nil {
				return err
			}
			item.Rules = append(item.Rules, ruleItem{Rule: i, Action: rule.Action, Expression: source, Cost: cost(rule)})
		}
		list.Items = append(list.Items, item)
	}
	for _, p := range custom {
		list.Items = append(list.Items, p)
	}
	return writeObject(cmd.OutOrStdout(), c.output.name, list)
}

// readPolicies compiles what there is in the input, of which no Pods are needed.
func (c *compilation) readPolicies(cmd *cobra.Command) ([]policy, []customItem, error) {
	set, err := c.input.readAll(cmd)
	if err != nil {
		return nil, nil, err
	}
	if len(set.Jobs)+len(set.Policies) == 0 {
		return nil, nil, errNoPolicies
	}
	if err := errors.Join(set.CheckNames(c.input.namespace), set.CheckPolicies()); err != nil {
		return nil, nil, err
	}
	policies, err := c.input.compile(set.Jobs)
	custom, customErr := c.compileCustom(set.Policies)
	return policies, custom, errors.Join(err, customErr)
}

func cost(rule compiler.CompiledRule) costItem {
	return costItem{Max: rule.Cost, Limit: compiler.CostLimit}
}

// print writes CEL to read and to paste, with comments that CEL takes as such.
func (c *compilation) print(w io.Writer, policies []policy, custom []customItem) error {
	var out bytes.Buffer
	for i, p := range policies {
		if i > 0 {
			fmt.Fprintln(&out)
		}
		job := terminal.Line(c.input.jobReference(p.job).String())
		fmt.Fprintf(&out, "// %s %s, Kubernetes %s", p.kind(), job, p.compiled.Environment.Kubernetes)
		if len(p.compiled.Rules) == 0 {
			fmt.Fprint(&out, ": no rules, every failure counts")
		}
		fmt.Fprintln(&out)
		for i, rule := range p.compiled.Rules {
			source, err := wrapped(rule)
			if err != nil {
				return err
			}
			cost := cost(rule)
			fmt.Fprintf(&out, "\n// rule %d: %s, cost at most %d of %d\n%s\n", i, rule.Action, cost.Max, cost.Limit, source)
		}
	}
	for i := range custom {
		if len(policies)+i > 0 {
			fmt.Fprintln(&out)
		}
		custom[i].print(&out)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// kind is what the user wrote.
func (p policy) kind() string {
	if p.job.CronJob != nil {
		return "CronJob"
	}
	return "Job"
}

// wrapColumn is the column after which expressions break, behind the next operator.
const wrapColumn = 40

// wrapped is the rule's expression on as many lines as it takes.
func wrapped(rule compiler.CompiledRule) (string, error) {
	text, err := parser.Unparse(rule.AST.Expr(), rule.AST.SourceInfo(), parser.WrapOnColumn(wrapColumn),
		parser.WrapOnOperators(operators.LogicalAnd, operators.LogicalOr, operators.Add))
	return strings.ReplaceAll(text, "\n", "\n  "), err
}
