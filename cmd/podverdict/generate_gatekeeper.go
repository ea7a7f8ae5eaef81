package main

import (
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/compiler/admission"
)

type gatekeeperGeneration struct {
	rules  []string
	data   string
	only   string
	exempt []string
	output format
}

const (
	onlyTemplates   = "templates"
	onlyConstraints = "constraints"
)

// exemptName is a namespace, or the beginning or the end of some, as Gatekeeper takes them.
var exemptName = regexp.MustCompile(`^(\*?[-a-z0-9]+|[-a-z0-9]+\*)$`)

func newGenerateGatekeeper() *cobra.Command {
	var g gatekeeperGeneration
	cmd := &cobra.Command{
		Use:   "gatekeeper",
		Short: "Write the guardrails as constraint templates for OPA Gatekeeper",
		Long: `Write rules for OPA Gatekeeper 3.19 or later: a ConstraintTemplate for each rule, for both of Gatekeeper's engines, CEL
and Rego, with the messages of validate --guardrails; and a Constraint for each that puts it in force for Jobs and
CronJobs, where errors are denied and warnings are shown to the user. The settings of a guardrail are the parameters of
its constraint, with the types and bounds that they have; --data sets them.

Gatekeeper makes the kinds of the constraints of the templates, which takes it a moment: apply the templates first. With
--rules '*' there are templates for the constraints of the Job API too, for gator and audits: the API server itself
checks them in Jobs.`,
		Example: `  podverdict generate gatekeeper --only templates > templates.yaml
  podverdict generate gatekeeper --only constraints --data guardrails.yaml > constraints.yaml
  podverdict generate gatekeeper --rules 'G-INDEX-*,G-TTL' --exempt-namespaces 'kube-*' > gatekeeper.yaml`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return g.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&g.rules, "rules", []string{"G-*"}, "ids of rules, or patterns of them: G-TTL, F*, *")
	flags.StringVar(&g.data, "data", "", "YAML or JSON file with the settings, as in podverdict: {config: {guardrails: {...}}}")
	flags.StringVar(&g.only, "only", "", "templates or constraints (default both)")
	flags.StringSliceVar(&g.exempt, "exempt-namespaces", nil, "names of namespaces where the constraints are not in force, or beginnings or ends of them: kube-*, *-system")
	addFormat(cmd, &g.output, "yaml", "json")
	return cmd
}

func (g *gatekeeperGeneration) run(cmd *cobra.Command) error {
	if g.only != "" && g.only != onlyTemplates && g.only != onlyConstraints {
		return errUsage(cmd, errChoice("only", g.only, onlyTemplates, onlyConstraints))
	}
	for _, name := range g.exempt {
		if !exemptName.MatchString(name) {
			return errUsage(cmd,
				fmt.Errorf("--exempt-namespaces: %q: must be the name of a namespace, or its beginning or end: kube-*, *-system", name))
		}
	}
	configuration, origin, err := readConfiguration(g.data)
	if err != nil {
		return err
	}
	selections, err := admission.Select(g.rules, configuration)
	if err != nil {
		return placedConfiguration(err, origin)
	}
	if len(selections) == 0 {
		return errUsage(cmd, errNoRuleApplies(g.rules))
	}
	var templates, constraints generated
	for _, s := range selections {
		rules, err := s.Gatekeeper(g.exempt)
		if err != nil {
			return err
		}
		for _, r := range rules {
			templates = append(templates, generatedObject{object: r.Template})
			constraints = append(constraints, generatedObject{object: r.Constraint})
		}
	}
	return g.chosen(templates, constraints).write(cmd.OutOrStdout(), g.output.name)
}

// chosen has the templates first: they make the kinds of the constraints.
func (g *gatekeeperGeneration) chosen(templates, constraints generated) generated {
	switch g.only {
	case onlyTemplates:
		return templates
	case onlyConstraints:
		return constraints
	default:
		return append(templates, constraints...)
	}
}
