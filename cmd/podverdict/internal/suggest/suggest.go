// Package suggest implements the verb suggest, which suggests rules based on past failures of Pods.
package suggest

import (
	"context"
	"path"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/verdicts"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/evidence"
)

// options are the flags of suggest.
type options struct {
	input             verdicts.Options
	custom, allowLoss bool
	owner             string
	output            cli.Format
}

// New returns the verb suggest.
func New(p *cli.Program) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "suggest {FILE... | TYPE/NAME... | TYPE [NAME...] | -A}",
		Short: "Suggest rules from how Pods have failed",
		Long: `Suggest rules from how Pods of many Jobs have failed, as YAML with the evidence
for each rule as a comment: a podFailurePolicy, or with --custom a
PodFailurePolicy (podverdict.io) that its binding only audits. It reads what
report reads.

  FailJob    on exit codes after which no Job completed, though it tried again;
             FailIndex in Jobs with backoffLimitPerIndex
  Ignore     of disruptions, where they used up more than half of backoffLimit
             or made Jobs fail
  retry      with more memory, where a container ran out of it twice in a row,
             and away from a node that fails more often than others (--custom)

The rules are tried on the same Jobs, and what they would have changed is said.
No rule is suggested that would have failed a Job that completed, or an index
that succeeded. Jobs are the witnesses, not Pods: 10 for an exit code, 3 for the
others. Where there are too few, suggest says how many more it needs.
` + cli.ConnectionHelp,
		Example: `  podverdict suggest dump.yaml
  podverdict suggest -A --custom
  podverdict suggest jobs -n batch -l app=nightly
  podverdict suggest dump.yaml --owner 'ml/cronjob/*'
  podverdict report dump.yaml --policy policy.yaml`,
		RunE: cli.Run(p, &o, run),
	}
	o.input.AddFlags(p, cmd)
	o.input.OnlyPods, o.input.Fields = true, evidence.PodFields
	_ = cmd.Flags().MarkHidden("policy")
	cmd.Flags().BoolVar(&o.custom, "custom", false, "suggest a PodFailurePolicy, which can also say how to retry")
	cmd.Flags().BoolVar(&o.allowLoss, "allow-loss", false, "allow rules that would have failed some Jobs that completed, one for each 20 that failed in vain")
	cmd.Flags().StringVar(&o.owner, "owner", "", "look only at Jobs of this owner, as report names it: ml/cronjob/nightly, or with wildcards ml/*/*")
	p.AddFormat(cmd, &o.output, "yaml", "json")
	return cmd
}

// run reads Jobs and Pods, finds rules, tries them, and prints them.
func run(ctx context.Context, c *cli.Console, o *options, args []string) (err error) {
	if _, err := path.Match(o.owner, ""); err != nil {
		return cli.Usagef("--owner %s: not a pattern", o.owner)
	}
	if o.input.Policy != "" {
		return cli.Usagef("--policy is for eval and report, which try a policy")
	}
	in, err := o.input.Read(ctx, c, args)
	defer in.Close() //nolint:staticcheck // it is to be closed also after an error
	defer func() { err = cli.JoinUnread(in.Unread, err) }()
	if err != nil {
		return err
	}
	s := evidence.Suggesting{Custom: o.custom, AllowLoss: o.allowLoss, Wanted: o.wants, Policies: in.Policies}
	if s.Environment, err = compiler.NewEnvironment(o.input.Kubernetes); err != nil {
		return err
	}
	made, err := s.Suggest(ctx, in.Families())
	if err != nil {
		return err
	}
	if o.output.Name == "json" {
		return print.JSON(c.Stdout, made)
	}
	for _, note := range made.Notes {
		c.Note("note: " + note)
	}
	return writeSuggestion(c.Stdout, made)
}

// wants reports whether the owner of a Job matches --owner.
func (o *options) wants(of *evidence.Outcome) bool {
	matches, _ := path.Match(o.owner, of.Owner)
	return o.owner == "" || matches
}
