//go:build !js

package main

import (
	"context"
	"regexp"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/spf13/cobra"
)

// gatekeeperOptions are the flags of generate gatekeeper.
type gatekeeperOptions struct {
	rules  []string
	data   string
	only   string
	exempt []string
	output cli.Format
}

const (
	onlyTemplates   = "templates"
	onlyConstraints = "constraints"
)

// exemptName matches what Gatekeeper takes: the name of a namespace, or its beginning or end with a *.
var exemptName = regexp.MustCompile(`^(\*?[-a-z0-9]+|[-a-z0-9]+\*)$`)

func newGenerateGatekeeper() *cobra.Command {
	var o gatekeeperOptions
	cmd := &cobra.Command{
		Use:   "gatekeeper",
		Short: "Write the guardrails as constraint templates for OPA Gatekeeper",
		Long: `Write rules for OPA Gatekeeper 3.19 or later: for each rule a ConstraintTemplate
in Rego, with the messages of check, and a Constraint that enforces it for Jobs
and CronJobs. Errors are denied, and warnings shown to the user. The settings
of a guardrail are the parameters of its constraint, with types and bounds;
--data sets them.

Apply the templates first: Gatekeeper takes a moment to make the kinds of the
constraints. With --rules '*' there are also templates for the constraints of
the Job API, for gator and audits; in a cluster the API server checks these
itself.`,
		Example: `  podverdict generate gatekeeper --only templates > templates.yaml
  podverdict generate gatekeeper --only constraints --data guardrails.yaml > constraints.yaml
  podverdict generate gatekeeper --rules 'G-INDEX-*,G-TTL' --exempt-namespaces 'kube-*' > gatekeeper.yaml`,
		Args: cli.NoArguments,
		RunE: cli.Run(&o, generateGatekeeper),
	}
	flags := cmd.Flags()
	addRulesFlag(cmd, &o.rules)
	flags.StringVar(&o.data, "data", "", "YAML or JSON file with the settings, as in podverdict: {config: {guardrails: {...}}}")
	flags.StringVar(&o.only, "only", "", "templates or constraints (default both)")
	flags.StringSliceVar(&o.exempt, "exempt-namespaces", nil, "names of namespaces where the constraints are not in force, or beginnings or ends of them: kube-*, *-system")
	cli.AddFormat(cmd, &o.output, "yaml", "json")
	return cmd
}

// generateGatekeeper selects rules with their settings, and writes their templates and constraints.
func generateGatekeeper(_ context.Context, c *cli.Console, o *gatekeeperOptions, _ []string) error {
	if o.only != "" && o.only != onlyTemplates && o.only != onlyConstraints {
		return cli.UsageError(cli.ChoiceError("only", o.only, onlyTemplates, onlyConstraints))
	}
	for _, name := range o.exempt {
		if !exemptName.MatchString(name) {
			return cli.Usagef("--exempt-namespaces: %q: must be the name of a namespace, or its beginning or end: kube-*, *-system", name)
		}
	}
	selections, _, err := selectRules(o.rules, o.data)
	if err != nil {
		return err
	}
	if len(selections) == 0 {
		return errNoRuleApplies(o.rules)
	}
	var templates, constraints generated // templates first: they make the kinds of the constraints
	for _, s := range selections {
		rules, err := s.Gatekeeper(o.exempt)
		if err != nil {
			return err
		}
		for _, r := range rules {
			if o.only != onlyConstraints {
				templates = append(templates, generatedObject{object: r.Template})
			}
			if o.only != onlyTemplates {
				constraints = append(constraints, generatedObject{object: r.Constraint})
			}
		}
	}
	return append(templates, constraints...).write(c.Stdout, o.output.Name)
}
