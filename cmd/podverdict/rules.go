//go:build !js

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/inspect"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/table"
	"github.com/podverdict/podverdict/internal/catalogue"
)

type rulesOptions struct {
	output format
	live   io.Writer // standard output, whose width counts
}

func newRules(live io.Writer) *cobra.Command {
	o := rulesOptions{live: live}
	cmd := &cobra.Command{
		Use:   "rules [ID...]",
		Short: "List the rules of check, or explain one",
		Long: `List the rules that check asks, or explain some of them: what a rule asks for
and why, an example that breaks it and one that keeps it, how to mend it, and
its parameters with their defaults. Older ids (F12, G-TTL) are understood, too.`,
		Example: `  podverdict rules
  podverdict rules exit-codes-unsorted
  podverdict rules -o json`,
		ValidArgsFunction: completed(catalogue.IDs),
		RunE:              verb(&o, rules),
	}
	addFormat(cmd, &o.output, "table", "json", "yaml")
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

	Help string `json:"help"` // the address of its page
}

// rules prints the rules that are asked for: as a list, or one page for each that is named.
func rules(_ context.Context, c *console, o *rulesOptions, args []string) error {
	asked := catalogue.All()
	if len(args) > 0 {
		asked = nil
	}
	for _, id := range args {
		rule, ok := catalogue.Find(id)
		if !ok {
			return usagef("%s: %s", id, inspect.UnknownRule(id))
		}
		asked = append(asked, rule)
	}
	switch {
	case o.output.isObject():
		return writeObject(c.stdout, o.output.name, newRuleList(asked))
	case len(args) > 0:
		for i, rule := range asked {
			if i > 0 {
				fmt.Fprintln(c.stdout)
			}
			rule.WriteText(c.stdout)
		}
		return nil
	}
	return writeRules(c, o, asked)
}

func writeRules(c *console, o *rulesOptions, rules []catalogue.Rule) error {
	out := table.New(c.stdout, screenOf(o.live, "never"), true,
		table.Column{Name: "ID"}, table.Column{Name: "GROUP"}, table.Column{Name: "SEVERITY"}, table.Column{Name: "REQUIREMENT", Below: true})
	for _, rule := range rules {
		out.Row(table.Cell{Text: rule.ID}, table.Cell{Text: string(rule.Group)}, table.Cell{Text: rule.Severity}, table.Cell{Text: rule.Title})
	}
	return out.Flush()
}

func newRuleList(rules []catalogue.Rule) ruleList {
	l := ruleList{APIVersion: apiVersion, Kind: "RuleList", Items: []describedRule{}}
	for _, rule := range rules {
		l.Items = append(l.Items, describedRule{rule, rule.Address()})
	}
	return l
}
