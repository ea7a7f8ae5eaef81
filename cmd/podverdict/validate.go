package main

import (
	"cmp"
	"context"
	"regexp"
	goruntime "runtime"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/runtime/rego"
)

type validation struct {
	input  source
	rules  constraints
	old    []string
	output format
}

func newValidate() *cobra.Command {
	var v validation
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
		RunE: v.run,
	}
	v.input.addFlags(cmd, cluster.Job, cluster.CronJob)
	cmd.Flags().StringSliceVar(&v.old, "old", nil, "file, directory, URL or - with the objects that those given with -f replace")
	v.rules.addFlags(cmd)
	addFormat(cmd, &v.output, report.Formats()...)
	return cmd
}

func (v *validation) run(cmd *cobra.Command, args []string) error {
	replacements, err := v.readReplacements(cmd, args)
	if err != nil {
		return err
	}
	validator, err := v.rules.prepare(cmd)
	if err != nil {
		return err
	}
	r := report.Report{Tool: "validate", Version: readVersion().Version, Checks: titles(validator)}
	if r.Subjects, err = v.subjects(cmd, validator, replacements); err != nil {
		return err
	}
	if err := r.Write(cmd.OutOrStdout(), v.output.name); err != nil {
		return err
	}
	if r.Count() > 0 {
		return errFindings
	}
	return nil
}

// titles describes the rules of the bundle for reports that list them.
func titles(validator *rego.Validator) map[string]string {
	all := map[string]string{}
	for id, check := range validator.Checks() {
		all[id] = cmp.Or(check.Title, id)
	}
	return all
}

// subjects validates the Jobs side by side, and answers in their order.
func (v *validation) subjects(cmd *cobra.Command, validator *rego.Validator, replacements []replacement) ([]report.Subject, error) {
	shown := newProgress(cmd.ErrOrStderr(), "Jobs validated", len(replacements))
	defer shown.end()
	all := make([]report.Subject, len(replacements))
	workers, ctx := errgroup.WithContext(cmd.Context())
	workers.SetLimit(goruntime.GOMAXPROCS(0))
	for i, r := range replacements {
		workers.Go(func() (err error) {
			all[i], err = v.subject(ctx, validator, r)
			shown.step()
			return err
		})
	}
	return all, workers.Wait()
}

func (v *validation) subject(ctx context.Context, validator *rego.Validator, r replacement) (report.Subject, error) {
	name := v.input.jobReference(r.job)
	s := report.Subject{Namespace: name.Namespace, Name: name.Name, File: fileOf(r.job)}
	whole := r.job.Whole()
	found, err := r.validate(ctx, validator)
	if err != nil {
		return s, whole.Error("", err.Error())
	}
	for _, f := range found {
		s.Findings = append(s.Findings, report.Finding{
			Check: f.ID, Severity: f.Severity, Rule: ruleOf(f.Field), Field: f.Field, Type: f.Type, Message: f.Sentence(),
		}.Placed(whole, whole.Position(f.Field)))
	}
	inFileOrder(s.Findings)
	return s, nil
}

var ruleIndex = regexp.MustCompile(`podFailurePolicy\.rules\[(\d+)\]`)

// ruleOf returns the index of the rule that a field belongs to, or nil.
func ruleOf(field string) *int {
	match := ruleIndex.FindStringSubmatch(field)
	if match == nil {
		return nil
	}
	index, err := strconv.Atoi(match[1])
	if err != nil {
		return nil
	}
	return &index
}
