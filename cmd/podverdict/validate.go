package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/bundle"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/runtime/rego"
)

// validateOptions are the flags of validate.
type validateOptions struct {
	source     source
	old        []string // files with what those given with -f replace
	guardrails bool
	data       string
	bundle     bundle.Source
	output     format
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
	flags.BoolVar(&o.guardrails, "guardrails", false, "also find what is legal and unwise")
	flags.StringVar(&o.data, "data", "", "YAML or JSON file with data of yours, as in podverdict: {config: {guardrails: {...}}}")
	flags.StringVar(&o.bundle.Reference, "bundle", "",
		"rules to use instead of the built-in ones: a folder, a bundle.tar.gz, or oci://REGISTRY/REPOSITORY:TAG")
	flags.StringVar(&o.bundle.Key, "verification-key", "", "PEM file of the public key that must have signed the bundle")
	flags.BoolVar(&o.bundle.PlainHTTP, "plain-http", false, "speak HTTP with the registry; those of localhost are asked so anyway")
	addFormat(cmd, &o.output, report.Formats()...)
	return cmd
}

// validate reads Jobs, compiles the rules for them, judges each Job by the rules, and prints the findings.
func validate(ctx context.Context, c *console, o *validateOptions, args []string) error {
	given, err := readReplacements(ctx, c, o, args)
	if err != nil {
		return err
	}
	validator, err := compileRules(ctx, o)
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

// replacement is a Job or CronJob of the input, and the object that it replaces, if any.
type replacement struct {
	job manifest.Job
	old *manifest.Job
}

// identity is what tells objects apart: an update cannot change it.
type identity struct {
	kind string
	name manifest.Reference
}

func (i identity) String() string { return i.kind + " " + i.name.String() }

func identityOf(j manifest.Job) identity {
	if j.CronJob != nil {
		return identity{"CronJob", j.Reference()}
	}
	return identity{"Job", j.Reference()}
}

// readReplacements reads what is given and what that replaces.
func readReplacements(ctx context.Context, c *console, o *validateOptions, args []string) ([]replacement, error) {
	if slices.Contains(o.old, "-") && slices.Contains(o.source.files.Filenames, "-") {
		return nil, errStdinTwice("--old")
	}
	if len(o.old) > 0 && !o.source.fromFiles() {
		return nil, usagef("--old is for files given with -f")
	}
	jobs, err := o.source.readJobs(ctx, c, args)
	if err != nil {
		return nil, err
	}
	replacements := make([]replacement, len(jobs))
	for i := range jobs {
		replacements[i].job = jobs[i]
	}
	if len(o.old) == 0 {
		return replacements, nil
	}
	old, err := readOld(ctx, c, o)
	if err != nil {
		return nil, err
	}
	for i := range replacements {
		replacements[i].old = old[identityOf(jobs[i])]
	}
	if !slices.ContainsFunc(replacements, func(r replacement) bool { return r.old != nil }) {
		return nil, fmt.Errorf("--old %s: none of the objects given with -f is in there, by kind, namespace and name",
			strings.Join(o.old, ",")) // these may be the wrong files
	}
	return replacements, nil
}

// readOld reads the objects that are replaced.
func readOld(ctx context.Context, c *console, o *validateOptions) (map[identity]*manifest.Job, error) {
	files := o.source.files
	files.Filenames = o.old
	set, err := readFiles(ctx, c, files)
	if err != nil {
		return nil, err
	}
	old := map[identity]*manifest.Job{}
	var errs []error
	for i := range set.Jobs {
		job := &set.Jobs[i]
		id := identityOf(*job)
		if first := old[id]; first != nil {
			message := fmt.Sprintf("%s is given twice with --old, first at %s", id, first.Whole().Position("metadata.name"))
			errs = append(errs, job.Whole().Error("metadata.name", message))
			continue
		}
		old[id] = job
	}
	return old, errors.Join(errs...)
}

// compileRules compiles the rules for Jobs. Errors in the data have their place in the file, and errors in a bundle the name
// of the bundle.
func compileRules(ctx context.Context, o *validateOptions) (*rego.Validator, error) {
	if o.bundle.Key != "" && o.bundle.Reference == "" {
		return nil, usagef("--verification-key is for a --bundle: the built-in rules are not signed")
	}
	options := rego.Options{Guardrails: o.guardrails, Warnings: true}
	var origin manifest.Origin
	var err error
	if o.data != "" {
		if options.Data, origin, err = manifest.ReadValue(manifest.Options{}, o.data); err != nil {
			return nil, err
		}
	}
	if o.bundle.Reference != "" {
		if options.Bundle, err = o.bundle.Open(ctx); err != nil {
			return nil, err
		}
	}
	validator, err := rego.New(ctx, options)
	var errs []error
	for _, err := range manifest.EachError(err) {
		wrong, ok := errors.AsType[*rego.DataError](err)
		switch {
		case ok && o.data != "":
			err = origin.Error(wrong.Field, wrong.Message)
		case o.bundle.Reference != "":
			err = errIn(o.bundle.Reference, err)
		}
		errs = append(errs, err)
	}
	return validator, errors.Join(errs...)
}

// validateAll validates Jobs side by side, and returns the findings in the order of the Jobs.
func validateAll(ctx context.Context, c *console, validator *rego.Validator, given []replacement) ([]report.Subject, error) {
	shown := newProgress(c.stderr, "Jobs validated", len(given))
	defer shown.end()
	all := make([]report.Subject, len(given))
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(goruntime.GOMAXPROCS(0))
	for i, r := range given {
		workers.Go(func() error {
			defer shown.step()
			validated := validatedOrigin(r.job)
			found, err := r.validate(ctx, validator)
			if err != nil {
				return validated.Error("", err.Error())
			}
			all[i] = jobSubject(r.job)
			for _, f := range found {
				all[i].Findings = append(all[i].Findings, regoFinding(validated, f))
			}
			inFileOrder(all[i].Findings)
			return nil
		})
	}
	return all, workers.Wait()
}

// validate returns what the rules find in a Job or CronJob.
func (r replacement) validate(ctx context.Context, validator *rego.Validator) ([]rego.Finding, error) {
	given, err := object(r.job)
	if err != nil {
		return nil, err
	}
	if r.old == nil {
		return validator.Validate(ctx, given, nil)
	}
	replaced, err := object(*r.old)
	if err != nil {
		return nil, err
	}
	return validator.Validate(ctx, given, replaced)
}

// validatedOrigin returns where the object stands that the rules are asked about. Of kinds that the API server does not know, that
// is the Job that they make.
func validatedOrigin(j manifest.Job) manifest.Origin {
	if j.CronJob == nil {
		return j.Origin
	}
	return j.Whole()
}

// object returns what the API server would receive. Items of a JobList may lack their kind, so it is set.
func object(j manifest.Job) (map[string]any, error) {
	if j.CronJob == nil {
		job := *j.Object
		job.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
		return rego.Object(&job)
	}
	cronJob := *j.CronJob
	cronJob.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "CronJob"}
	return rego.Object(&cronJob)
}
