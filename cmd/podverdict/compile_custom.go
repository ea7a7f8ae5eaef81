package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/inforce"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/internal/terminal"
)

// customItem is a PodFailurePolicy that compiles.
type customItem struct {
	Policy          string           `json:"policy"`
	Kubernetes      string           `json:"kubernetes"`
	Cost            costItem         `json:"cost"` // of all expressions together
	MatchConditions []expressionItem `json:"matchConditions,omitempty"`
	Variables       []expressionItem `json:"variables,omitempty"`
	Rules           []customRuleItem `json:"rules"`
}

// expressionItem is a match condition or a variable.
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
	Message    *messageItem                   `json:"message,omitempty"`
}

type messageItem struct {
	Expression string   `json:"expression"`
	Cost       costItem `json:"cost"`
}

// compileCustom compiles custom policies; the error joins what is wrong with any of them.
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
		compiled := inforce.Compile(environment, p)
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
			Cost: expressionCost(known[fmt.Sprintf("spec.rules[%d].when", i)]), Reason: r.Reason, Budget: r.Budget,
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

// print writes the expressions as they are written, with comments that CEL takes as such.
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

// title is what a rule does.
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
	if r.RetryDelay != "" {
		text += ", retry after " + r.RetryDelay
	}
	return text
}
