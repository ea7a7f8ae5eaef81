package report

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/verdicts"
	"github.com/podverdict/podverdict/internal/evidence"
)

// options are the flags of report.
type options struct {
	input  verdicts.Options
	by     []string
	top    int
	since  string
	color  string
	output cli.Format
	live   io.Writer // standard output, which determines the width
	flags  *pflag.FlagSet
}

// defaultSections are the sections of a report without --by.
var defaultSections = []string{"reason", "code", "rule", "node", "owner"}

// New returns the verb report.
func New(p *cli.Program) *cobra.Command {
	o := options{live: p.Stdout}
	cmd := &cobra.Command{
		Use:   "report {FILE... | TYPE/NAME... | TYPE [NAME...] | -A}",
		Short: "Sum up how Pods have failed, and what that cost",
		Long: `Sum up how the Pods of many Jobs have failed: why, where, how often another
attempt helped, and how many hours of CPU, memory and GPUs the failed attempts
had reserved. Rules that decided nothing and Jobs without rules are named.

Files are given as arguments or with -f: what kubectl get jobs,pods -o yaml or
-o json prints, documents one after the other or one a line, also compressed by
gzip or zstd, in any order. Pods that are there several times count once. There
may be millions of them: what does not fit into memory goes to a temporary file
in TMPDIR.

A row counts attempts, which are Pods that have ended. FAILED are those that
failed, and JOBS their Jobs. After RETRIED ones another attempt began, at the
same index if there are indexes; RECOVERED are those of them where one succeeded
in the end. Hours are requests times the time from the Pod's start to its end;
memory is in GiB times hours.

--policy says what other rules would have changed: a Job, CronJob or
podFailurePolicy in place of the Jobs' own, or PodFailurePolicies
(podverdict.io) to add to all Jobs, as if podverdict's controller ran these.
` + cli.ConnectionHelp,
		Example: `  podverdict report dump.yaml
  podverdict report pods.ndjson.zst --since 7d --by node,image
  podverdict report -A
  podverdict report jobs -n batch -o markdown
  podverdict report dump.yaml --policy new.yaml
  podverdict report dump.yaml --by owner,day --top 0 -o csv
  podverdict report dump.yaml -o html >report.html
  kubectl get jobs,pods -A -o json | podverdict report -`,
		RunE: cli.Run(p, &o, run),
	}
	o.input.AddFlags(p, cmd)
	o.input.OnlyPods, o.input.Fields = true, evidence.PodFields
	cmd.Flags().Lookup("now").Usage = "`time` from which --since counts back, as 2026-11-22T06:00:00Z (default the time of the run)"
	cmd.Flags().StringSliceVar(&o.by, "by", defaultSections, "sections: "+strings.Join(evidence.Dimensions(), ", "))
	cli.AddListCompletion(cmd, "by", evidence.Dimensions)
	cmd.Flags().IntVar(&o.top, "top", 10, "rows of each section; 0 means all")
	cmd.Flags().StringVar(&o.since, "since", "", "leave out attempts that ended earlier: 30d, 12h, 2026-11-01, 2026-11-01T06:00:00Z")
	cli.AddColorFlag(cmd, &o.color)
	p.AddFormat(cmd, &o.output, "table", "json", "csv", "markdown", "html")
	o.flags = cmd.Flags()
	return cmd
}

// run reads Jobs and Pods, sums them up, and prints the sum.
func run(ctx context.Context, c *cli.Console, o *options, args []string) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	in, err := o.input.Read(ctx, c, args)
	defer in.Close() //nolint:staticcheck // it is to be closed also after an error
	defer func() { err = cli.JoinUnread(in.Unread, err) }()
	if err != nil {
		return err
	}
	since, err := sinceTime(o.since, in.Now)
	if err != nil {
		return err
	}
	s := evidence.Summing{Since: since}
	if s.Rules, s.Other, err = o.rules(c, &in); err != nil {
		return err
	}
	sum, err := sumAll(ctx, c, &in, s)
	if err != nil {
		return err
	}
	r := sum.Fold.Report(o.top, o.by...)
	if s.Other != nil {
		r.Effect = &sum.Effect
	}
	if in.Nothing != "" && o.output.IsProse() {
		c.Note(in.Nothing)
		return nil
	}
	if o.output.Name == "html" {
		return o.writePage(c, &sum.Fold, r, args)
	}
	return o.write(c.Stdout, r)
}

// check returns an error for invalid flag values.
func (o *options) check() error {
	if o.top < 0 {
		return cli.Usagef("--top %d: must not be negative", o.top)
	}
	for i, name := range o.by {
		if !slices.Contains(evidence.Dimensions(), name) {
			return cli.UsageError(cli.ChoiceError("by", name, evidence.Dimensions()...))
		}
		if slices.Contains(o.by[:i], name) {
			return cli.Usagef("--by %s: is there twice", name)
		}
	}
	if _, err := sinceTime(o.since, time.Now()); err != nil {
		return err
	}
	return cli.CheckColor(o.color)
}

// sinceTime parses --since: a duration before now, which may be in days, a date, or a time.
func sinceTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return now.AddDate(0, 0, -int(n)).UTC(), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d).UTC(), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, cli.Usagef("--since %s: must be as 30d, 12h, 2026-11-01 (UTC) or 2026-11-01T06:00:00Z", text)
}
