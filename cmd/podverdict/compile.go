package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/parser"
	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/terminal"
)

// compileOptions are the flags of compile.
type compileOptions struct {
	files      manifest.Options
	kubernetes string
	output     format
}

func newCompile() *cobra.Command {
	var o compileOptions
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
		RunE: verb(&o, compile),
	}
	addFileFlags(cmd.Flags(), &o.files)
	addKubernetesFlag(cmd.Flags(), &o.kubernetes)
	addFormat(cmd, &o.output, "cel", "yaml", "json")
	return cmd
}

// compile reads Jobs and custom policies, compiles them, and prints their expressions. It needs no Pods.
func compile(ctx context.Context, c *console, o *compileOptions, _ []string) error {
	set, err := readPolicyFiles(ctx, c, o.files)
	if err != nil {
		return err
	}
	if len(set.Jobs)+len(set.Policies) == 0 {
		return errNoPolicies
	}
	jobs, err := compileJobs(o.kubernetes, set.Jobs)
	custom, customErr := compileCustom(o.kubernetes, set.Policies)
	if err := errors.Join(err, customErr); err != nil {
		return err
	}
	if o.output.isObject() {
		list, err := newPolicyList(jobs, custom)
		if err != nil {
			return err
		}
		return writeObject(c.stdout, o.output.name, list)
	}
	return printCompiled(c.stdout, jobs, custom)
}

// compileJobs compiles the podFailurePolicy of every Job; the error joins what is wrong with any of them.
func compileJobs(kubernetes string, jobs []manifest.Job) ([]compiledJob, error) {
	environment, err := compiler.NewEnvironment(kubernetes)
	if err != nil {
		return nil, err
	}
	all := make([]compiledJob, len(jobs))
	errs := make([]error, len(jobs))
	for i, job := range jobs {
		compiled, err := job.Compile(environment)
		all[i], errs[i] = compiledJob{job, compiled}, err
	}
	return all, errors.Join(errs...)
}

// compiledJob is a Job with its compiled podFailurePolicy.
type compiledJob struct {
	job      manifest.Job
	compiled *compiler.Compiled
}

// policyList has an item for each Job, then one for each custom policy.
type policyList struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Items      []any  `json:"items"`
}

type policyItem struct {
	Job        manifest.Reference `json:"job"`
	Kubernetes string             `json:"kubernetes"`
	Rules      []ruleItem         `json:"rules"`
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

func (c costItem) String() string { return fmt.Sprintf("cost at most %d of %d", c.Max, c.Limit) }

func newPolicyList(jobs []compiledJob, custom []customItem) (policyList, error) {
	list := policyList{APIVersion: apiVersion, Kind: "CompiledPolicyList"}
	for _, j := range jobs {
		item := policyItem{Job: j.job.Reference(), Kubernetes: j.compiled.Environment.Kubernetes, Rules: []ruleItem{}}
		for i, rule := range j.compiled.Rules {
			source, err := rule.Source()
			if err != nil {
				return list, err
			}
			item.Rules = append(item.Rules, ruleItem{i, rule.Action, source, costItem{rule.Cost, compiler.CostLimit}})
		}
		list.Items = append(list.Items, item)
	}
	for _, p := range custom {
		list.Items = append(list.Items, p)
	}
	return list, nil
}

// printCompiled writes CEL to read and to paste, with comments that CEL takes as such.
func printCompiled(w io.Writer, jobs []compiledJob, custom []customItem) error {
	for i, j := range jobs {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "// %s, Kubernetes %s", terminal.Line(identityOf(j.job).String()), j.compiled.Environment.Kubernetes)
		if len(j.compiled.Rules) == 0 {
			fmt.Fprint(w, ": no rules, every failure counts")
		}
		fmt.Fprintln(w)
		for i, rule := range j.compiled.Rules {
			source, err := wrapped(rule)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "\n// rule %d: %s, %s\n%s\n", i, rule.Action, costItem{rule.Cost, compiler.CostLimit}, source)
		}
	}
	for i := range custom {
		if len(jobs)+i > 0 {
			fmt.Fprintln(w)
		}
		custom[i].print(w)
	}
	return nil
}

// wrapColumn is the column after which expressions break, behind the next operator.
const wrapColumn = 40

// wrapped is the rule's expression on as many lines as it takes.
func wrapped(rule compiler.CompiledRule) (string, error) {
	text, err := parser.Unparse(rule.AST.Expr(), rule.AST.SourceInfo(), parser.WrapOnColumn(wrapColumn),
		parser.WrapOnOperators(operators.LogicalAnd, operators.LogicalOr, operators.Add))
	return strings.ReplaceAll(text, "\n", "\n  "), err
}
