package compile

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
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/terminal"
)

type compileOptions struct {
	files      manifest.Options
	kubernetes string
	output     cli.Format
}

// New returns the compile command.
func New(p *cli.Program) *cobra.Command {
	var o compileOptions
	cmd := &cobra.Command{
		Use:   "compile -f JOB|POLICY",
		Short: "Show the CEL of a Job's rules, and of custom policies",
		Long: `Show the CEL that the rules of spec.podFailurePolicy compile to, an expression
for each rule. It is true when the rule matches the variable pod; the first rule
that matches decides. The expressions run unchanged in the API server's CEL
environment. The cost is the most that evaluating an expression can take, in the
API server's units, beside the limit.

A PodFailurePolicy (podverdict.io) is shown as it is written, with the types and
costs of its match conditions, variables, rules and messages. It needs no Job.`,
		Example: `  podverdict compile -f job.yaml
  podverdict compile -f job.yaml -o json --kubernetes 1.30
  podverdict compile -f policy.yaml`,
		Args: cli.FileArguments(&o.files.Filenames),
		RunE: cli.Run(p, &o, run),
	}
	p.AddFileFlags(cmd.Flags(), &o.files)
	cli.AddKubernetesFlag(cmd.Flags(), &o.kubernetes)
	p.AddFormat(cmd, &o.output, "cel", "yaml", "json")
	return cmd
}

// run reads Jobs and custom policies, compiles them, and prints their expressions. It needs no Pods.
func run(ctx context.Context, c *cli.Console, o *compileOptions, _ []string) error {
	set, wrong := cli.ReadFiles(ctx, c, o.files)
	if wrong == nil && len(set.Jobs)+len(set.Policies) == 0 {
		return cli.ErrNoPolicies
	}
	jobs, errJobs := compileJobs(o.kubernetes, set.Jobs)
	custom, errCustom := compileCustom(o.kubernetes, set.Policies)
	wrong = errors.Join(wrong, set.CheckPolicies(), errJobs, errCustom)
	if wrong != nil && (o.files.Strict || len(jobs)+len(custom) == 0 || !manifest.OnlyDocuments(wrong)) {
		return wrong
	}
	if err := o.print(c.Stdout, jobs, custom); err != nil || wrong == nil {
		return err
	}
	return cli.UnreadError(wrong)
}

func (o *compileOptions) print(w io.Writer, jobs []compiledJob, custom []customItem) error {
	if !o.output.IsObject() {
		return printCompiled(w, jobs, custom)
	}
	list, err := newPolicyList(jobs, custom)
	if err != nil {
		return err
	}
	return o.output.WriteObject(w, list)
}

// compileJobs compiles the podFailurePolicy of every Job. The error joins the errors of the skipped Jobs.
func compileJobs(kubernetes string, jobs []manifest.Job) ([]compiledJob, error) {
	environment, err := compiler.NewEnvironment(kubernetes)
	if err != nil {
		return nil, err
	}
	var all []compiledJob
	var errs []error
	for _, job := range jobs {
		if compiled, err := job.Compile(environment); err != nil {
			errs = append(errs, err)
		} else {
			all = append(all, compiledJob{job, compiled})
		}
	}
	return all, errors.Join(errs...)
}

// compiledJob is a Job with its compiled podFailurePolicy.
type compiledJob struct {
	job      manifest.Job
	compiled *compiler.Compiled
}

// policyList has an item for each Job, followed by an item for each custom policy.
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

// costItem is a cost in the API server's units. Max is the maximum for a Pod within the compiler's bounds.
type costItem struct {
	Max   uint64 `json:"max"`
	Limit uint64 `json:"limit"`
}

func (c costItem) String() string { return fmt.Sprintf("cost at most %d of %d", c.Max, c.Limit) }

func newPolicyList(jobs []compiledJob, custom []customItem) (policyList, error) {
	list := policyList{APIVersion: print.APIVersion, Kind: "CompiledPolicyList"}
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

// printCompiled writes CEL with comments, so that the output can be pasted as CEL.
func printCompiled(w io.Writer, jobs []compiledJob, custom []customItem) error {
	for i, j := range jobs {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "// %s, Kubernetes %s", terminal.Line(cli.IdentityOf(j.job).String()), j.compiled.Environment.Kubernetes)
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

// wrapColumn is the column after which an expression is wrapped at the next operator.
const wrapColumn = 40

// wrapped returns the expression of a rule, wrapped into lines.
func wrapped(rule compiler.CompiledRule) (string, error) {
	text, err := parser.Unparse(rule.AST.Expr(), rule.AST.SourceInfo(), parser.WrapOnColumn(wrapColumn),
		parser.WrapOnOperators(operators.LogicalAnd, operators.LogicalOr, operators.Add))
	return strings.ReplaceAll(text, "\n", "\n  "), err
}

// customItem describes a compiled PodFailurePolicy.
type customItem struct {
	Policy          string           `json:"policy"`
	Kubernetes      string           `json:"kubernetes"`
	Cost            costItem         `json:"cost"` // total for all expressions
	MatchConditions []expressionItem `json:"matchConditions,omitempty"`
	Variables       []expressionItem `json:"variables,omitempty"`
	Rules           []customRuleItem `json:"rules"`
}

// expressionItem describes a match condition or variable.
type expressionItem struct {
	Name       string   `json:"name"`
	Type       string   `json:"type"`
	Expression string   `json:"expression"`
	Cost       costItem `json:"cost"`
}

type customRuleItem struct {
	Rule       int                            `json:"rule"`
	Name       string                         `json:"name"`
	Phase      corev1.PodPhase                `json:"phase"`
	Action     batchv1.PodFailurePolicyAction `json:"action"`
	Expression string                         `json:"expression"`
	Cost       costItem                       `json:"cost"`
	Reason     string                         `json:"reason,omitempty"`
	Budget     *v1alpha1.Budget               `json:"budget,omitempty"`
	RetryDelay string                         `json:"retryDelay,omitempty"`
	Retry      *v1alpha1.Retry                `json:"retry,omitempty"`
	Message    *messageItem                   `json:"message,omitempty"`
}

type messageItem struct {
	Expression string   `json:"expression"`
	Cost       costItem `json:"cost"`
}

// compileCustom compiles custom policies. The error joins the errors of the skipped policies.
func compileCustom(kubernetes string, policies []manifest.Policy) ([]customItem, error) {
	if len(policies) == 0 {
		return nil, nil
	}
	environment, err := compiler.NewEnvironment(kubernetes)
	if err != nil {
		return nil, err
	}
	var items []customItem
	var errs []error
	for _, p := range policies {
		compiled := effective.Compile(environment, p)
		if err := compiled.Err(); err != nil {
			errs = append(errs, err)
			continue
		}
		items = append(items, newCustomItem(p.Object, compiled.Compiled.Compiled, environment.Kubernetes))
	}
	return items, errors.Join(errs...)
}

func newCustomItem(p *v1alpha1.PodFailurePolicy, compiled *custom.Policy, kubernetes string) customItem {
	known := map[string]*custom.Expression{}
	for _, x := range compiled.Expressions() {
		known[x.Field] = x
	}
	item := customItem{
		Policy: p.Name, Kubernetes: kubernetes, Cost: costItem{compiled.Cost, compiler.CostBudget}, Rules: []customRuleItem{},
	}
	for i, m := range p.Spec.MatchConditions {
		item.MatchConditions = append(item.MatchConditions, newExpressionItem(m.Name, known[fmt.Sprintf("spec.matchConditions[%d].expression", i)]))
	}
	for i, v := range p.Spec.Variables {
		item.Variables = append(item.Variables, newExpressionItem(v.Name, known[fmt.Sprintf("spec.variables[%d].expression", i)]))
	}
	for i, r := range p.Spec.Rules {
		rule := customRuleItem{
			Rule: i, Name: r.Name, Phase: r.Phase, Action: r.Action, Expression: r.When,
			Cost: expressionCost(known[fmt.Sprintf("spec.rules[%d].when", i)]), Reason: r.Reason, Budget: r.Budget, Retry: r.Retry,
		}
		if r.RetryDelay != nil {
			rule.RetryDelay = r.RetryDelay.Duration.String()
		}
		if message, ok := known[fmt.Sprintf("spec.rules[%d].messageExpression", i)]; ok {
			rule.Message = &messageItem{message.Text, expressionCost(message)}
		}
		item.Rules = append(item.Rules, rule)
	}
	return item
}

func newExpressionItem(name string, x *custom.Expression) expressionItem {
	return expressionItem{Name: name, Type: x.Type.String(), Expression: x.Text, Cost: expressionCost(x)}
}

func expressionCost(x *custom.Expression) costItem { return costItem{x.Cost, compiler.CostLimit} }

// print writes the expressions verbatim, with titles as CEL comments.
func (i customItem) print(w io.Writer) {
	fmt.Fprintf(w, "// PodFailurePolicy %s, Kubernetes %s: %s\n", terminal.Line(i.Policy), i.Kubernetes, i.Cost)
	for _, m := range i.MatchConditions {
		printCEL(w, "match condition "+m.Name, m.Cost, m.Expression)
	}
	for _, v := range i.Variables {
		printCEL(w, fmt.Sprintf("variable %s: %s", v.Name, v.Type), v.Cost, v.Expression)
	}
	for _, r := range i.Rules {
		printCEL(w, r.title(), r.Cost, r.Expression)
		if r.Message != nil {
			printCEL(w, "message of rule "+r.Name, r.Message.Cost, r.Message.Expression)
		}
	}
}

func printCEL(w io.Writer, title string, cost costItem, expression string) {
	text := strings.ReplaceAll(strings.TrimSpace(expression), "\n", "\n  ")
	fmt.Fprintf(w, "\n// %s, %s\n%s\n", terminal.Line(title), cost, terminal.Lines(text))
}

// title describes a rule in one line.
func (r customRuleItem) title() string {
	text := fmt.Sprintf("rule %s: %s", r.Name, r.Action)
	if r.Phase != corev1.PodFailed {
		text += " of " + string(r.Phase) + " Pods"
	}
	if r.Reason != "" {
		text += ", reason " + r.Reason
	}
	if b := r.Budget; b != nil {
		text += fmt.Sprintf(", budget of %d per %s, then %s", b.Limit, b.Per, b.Then)
	}
	if retry := print.RetryText(r.RetryDelay, r.Retry); retry != "" {
		text += ", " + retry
	}
	return text
}
