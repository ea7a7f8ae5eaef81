package check

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/internal/catalogue"
)

type rulesOptions struct {
	output cli.Format
}

// NewRules returns the verb rules, which lists and explains the rules of check.
func NewRules(p *cli.Program) *cobra.Command {
	var o rulesOptions
	cmd := &cobra.Command{
		Use:   "rules [ID...]",
		Short: "List the rules of check, or explain one",
		Long: `List the rules that check asks, or explain some of them: what a rule asks for
and why, an example that breaks it and one that keeps it, how to mend it, and
its parameters with their defaults. Older ids (F12, G-TTL) are understood, too.`,
		Example: `  podverdict rules
  podverdict rules exit-codes-unsorted
  podverdict rules -o json`,
		ValidArgsFunction: cli.CompletedBy(catalogue.IDs),
		RunE:              cli.Run(p, &o, runRules),
	}
	p.AddFormat(cmd, &o.output, "table", "json", "yaml")
	return cmd
}

// ruleList is the JSON and YAML form of rules.
type ruleList struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Items      []describedRule `json:"items"`
}

type describedRule struct {
	catalogue.Rule

	Help string `json:"help"` // URL of the rule's page
}

// runRules prints a list of rules, or the page of each rule named in the arguments.
func runRules(_ context.Context, c *cli.Console, o *rulesOptions, args []string) error {
	asked := catalogue.All()
	if len(args) > 0 {
		asked = nil
	}
	for _, id := range args {
		rule, ok := catalogue.Find(id)
		if !ok {
			return cli.Usagef("%s: %s", id, unknownRule(id))
		}
		asked = append(asked, rule)
	}
	switch {
	case o.output.IsObject():
		return o.output.WriteObject(c.Stdout, newRuleList(asked))
	case len(args) > 0:
		for i, rule := range asked {
			if i > 0 {
				fmt.Fprintln(c.Stdout)
			}
			rule.WriteText(c.Stdout)
		}
		return nil
	}
	return writeRules(c, asked)
}

func writeRules(c *cli.Console, rules []catalogue.Rule) error {
	out := print.NewTable(c.Stdout, c.Screen("never"), true,
		print.Column{Name: "ID"}, print.Column{Name: "GROUP"}, print.Column{Name: "SEVERITY"}, print.Column{Name: "REQUIREMENT", Below: true})
	for _, rule := range rules {
		out.Row(print.Cell{Text: rule.ID}, print.Cell{Text: string(rule.Group)}, print.Cell{Text: rule.Severity}, print.Cell{Text: rule.Title})
	}
	return out.Flush()
}

func newRuleList(rules []catalogue.Rule) ruleList {
	l := ruleList{APIVersion: print.APIVersion, Kind: "RuleList", Items: []describedRule{}}
	for _, rule := range rules {
		l.Items = append(l.Items, describedRule{rule, rule.Address()})
	}
	return l
}
