package main

import (
	"cmp"
	"context"
	goruntime "runtime"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/runtime/rego"
)

// validateOptions are the flags of validate.
type validateOptions struct {
	source source
	old    []string // files with what those given with -f replace
	rules  constraints
	output format
}

func newValidate() *cobra.Command {
	var o validateOptions
	cmd := &cobra.Command{
		Use:   "validate {TYPE/NAME... | TYPE [NAME...] | -f JOB}",
		Short: "Find what the API server would refuse, and what breaks your guardrails",
		Long: `Find what the API server would refuse or warn of in Jobs and CronJobs: the constraints of the Job API from the Rego
bundle, with the API server's own words. With --old the rules are those of an update of the objects of the same kind, namespace and
name there; objects that are not among them are created. With --guardrails also find what is legal and unwise; --data
turns guardrails off and sets their numbers. Exits with 1 when there are findings, be they errors or warnings.

Jobs and CronJobs come from files given with -f, or from a cluster: job/NAME, cronjob/NAME, or jobs, cronjobs or
jobs,cronjobs for all of the namespace. -l selects among these, and with -A or -l alone Jobs are meant. The API server
has taken them, so it is the guardrails and other bundles that they are held to, or the rules of a later version.
` + connectionHelp,
		Example: `  podverdict validate -f job.yaml
  podverdict validate jobs,cronjobs -n batch --guardrails
  podverdict validate -f new.yaml --old old.yaml
  podverdict validate -R -f manifests/ --guardrails --data guardrails.yaml -o sarif > validate.sarif
  podverdict validate -f job.yaml --bundle oci://registry.example.com/policies:v1 --verification-key key.pub`,
		RunE: verb(&o, validate),
	}
	flags := cmd.Flags()
	o.source.addFlags(flags, cluster.Job, cluster.CronJob)
	flags.StringSliceVar(&o.old, "old", nil, "file, directory, URL or - with the objects that those given with -f replace")
	o.rules.addFlags(flags)
	addFormat(cmd, &o.output, report.Formats()...)
	return cmd
}

// validate reads Jobs, compiles the rules that they are held to, judges each Job by them, and prints what was found.
func validate(ctx context.Context, c *console, o *validateOptions, args []string) error {
	given, err := readReplacements(ctx, c, o, args)
	if err != nil {
		return err
	}
	validator, err := o.rules.compile(ctx)
	if err != nil {
		return err
	}
	r := report.Report{Tool: "validate", Checks: map[string]string{}}
	for id, check := range validator.Checks() {
		r.Checks[id] = cmp.Or(check.Title, id)
	}
	if r.Subjects, err = validateAll(ctx, c, validator, given); err != nil {
		return err
	}
	return printReport(c, r, o.output)
}

// validateAll validates Jobs side by side, and answers in their order.
func validateAll(ctx context.Context, c *console, validator *rego.Validator, given []replacement) ([]report.Subject, error) {
	shown := newProgress(c.stderr, "Jobs validated", len(given))
	defer shown.end()
	all := make([]report.Subject, len(given))
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(goruntime.GOMAXPROCS(0))
	for i, r := range given {
		workers.Go(func() error {
			defer shown.step()
			whole := r.job.Whole()
			found, err := r.validate(ctx, validator)
			if err != nil {
				return whole.Error("", err.Error())
			}
			all[i] = jobSubject(r.job)
			for _, f := range found {
				all[i].Findings = append(all[i].Findings, regoFinding(whole, f))
			}
			inFileOrder(all[i].Findings)
			return nil
		})
	}
	return all, workers.Wait()
}
