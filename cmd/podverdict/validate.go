//go:build !js

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/bundle"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/inspect"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/runtime/rego"
)

// validateOptions are the flags of validate.
type validateOptions struct {
	source     source
	old        []string // files with what those given with -f replace
	guardrails bool
	data       string
	bundle     bundle.Source
	reporting
}

func newValidate(live io.Writer) *cobra.Command {
	o := validateOptions{reporting: reporting{live: live}}
	cmd := &cobra.Command{
		Use:   "validate {TYPE/NAME... | TYPE [NAME...] | -f JOB}",
		Short: "Find what the API server would refuse, and broken guardrails",
		Long: `Find what the API server would refuse or warn of in Jobs and CronJobs, in its
own words, and with --guardrails also what is legal and unwise; --data sets the
numbers of guardrails or turns them off. Exits with 1 when there are findings,
be they errors or warnings. "podverdict check" does this and more.

With --old, objects that are in that file too are updated, and the rules are
those of an update. Not checked are the selector, labels that the API server
makes, generateName, and the rest of the Pod template.

In a cluster, job/NAME and cronjob/NAME are single objects, and jobs, cronjobs
or jobs,cronjobs all in the namespace. -l selects among these, and with -A or -l
alone Jobs are meant. The API server has accepted these: try --guardrails,
--bundle, or a later --kubernetes.
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
	addSourceCompletions(cmd, &o.source)
	flags.StringSliceVar(&o.old, "old", nil, "file, directory, URL or - with the objects that those given with -f replace")
	flags.BoolVar(&o.guardrails, "guardrails", false, "also find what is legal and unwise")
	flags.StringVar(&o.data, "data", "", "YAML or JSON file with data of yours, as in podverdict: {config: {guardrails: {...}}}")
	flags.StringVar(&o.bundle.Reference, "bundle", "",
		"rules to use instead of the built-in ones: a folder, a bundle.tar.gz, or oci://REGISTRY/REPOSITORY:TAG")
	flags.StringVar(&o.bundle.Key, "verification-key", "", "PEM file of the public key that must have signed the bundle")
	flags.BoolVar(&o.bundle.PlainHTTP, "plain-http", false, "speak HTTP with the registry; those of localhost are asked so anyway")
	addReporting(cmd, &o.reporting, "warning")
	return cmd
}

// validate reads Jobs, compiles the rules for them, judges each Job by the rules, and prints the findings.
func validate(ctx context.Context, c *console, o *validateOptions, args []string) error {
	choice, err := o.choice()
	if err != nil {
		return err
	}
	given, err := readReplacements(ctx, c, o, args)
	if err != nil {
		return err
	}
	validator, err := compileRules(ctx, o)
	if err != nil {
		return err
	}
	shown := newProgress(c.stderr, "Jobs validated", len(given.set.Jobs))
	subjects, err := inspect.Inspect(ctx, given.set, inspect.Options{
		Validator: func() (*rego.Validator, error) { return validator, nil }, Constraints: true,
		Replaced: given.replaced, Step: shown.step,
	})
	shown.end()
	if err != nil {
		return err
	}
	found := findings{tool: "validate", groups: []catalogue.Group{catalogue.Constraints, catalogue.Input}, subjects: subjects, set: given.set, unread: given.unread}
	if o.guardrails {
		found.groups = append(found.groups, catalogue.Guardrails)
	}
	if o.bundle.Reference != "" {
		found.foreign = validator.Checks()
	}
	return o.print(c, found, choice)
}

// replacements are Jobs and CronJobs, and the objects that they replace.
type replacements struct {
	set    *manifest.Set
	unread []report.Subject
	old    map[identity]*manifest.Job
}

// replaced returns the object that a Job or CronJob replaces, or nil.
func (r *replacements) replaced(job manifest.Job) *manifest.Job { return r.old[identityOf(job)] }

// readReplacements reads what is given and what that replaces.
func readReplacements(ctx context.Context, c *console, o *validateOptions, args []string) (r replacements, err error) {
	args = o.source.takeFiles(args)
	if slices.Contains(o.old, "-") && slices.Contains(o.source.files.Filenames, "-") {
		return r, errStdinTwice("--old")
	}
	if len(o.old) > 0 && !o.source.fromFiles() {
		return r, usagef("--old is for files given with -f")
	}
	if r.set, r.unread, err = readValidated(ctx, c, o, args); err != nil || len(o.old) == 0 {
		return r, err
	}
	if err := r.readOld(ctx, c, o); err != nil {
		return r, err
	}
	if len(r.unread) == 0 && !slices.ContainsFunc(r.set.Jobs, func(job manifest.Job) bool { return r.replaced(job) != nil }) {
		return r, fmt.Errorf("--old %s: none of the objects given with -f is in there, by kind, namespace and name",
			strings.Join(o.old, ",")) // these may be the wrong files
	}
	return r, nil
}

// readValidated reads Jobs and CronJobs.
func readValidated(ctx context.Context, c *console, o *validateOptions, args []string) (*manifest.Set, []report.Subject, error) {
	if !o.source.fromFiles() {
		jobs, err := o.source.readJobs(ctx, c, args)
		return &manifest.Set{Jobs: jobs}, nil, err
	}
	if err := o.source.parse(c, args); err != nil {
		return nil, nil, err
	}
	set, unread, err := readInspected(ctx, c, o.source.files)
	if err == nil && len(set.Jobs)+len(unread) == 0 {
		err = errNoJob
	}
	return set, unread, err
}

// readOld reads the objects that are replaced.
func (r *replacements) readOld(ctx context.Context, c *console, o *validateOptions) error {
	files := o.source.files
	files.Filenames = o.old
	set, unread, err := readInspected(ctx, c, files)
	if err != nil {
		return err
	}
	r.unread = append(r.unread, unread...)
	r.old = map[identity]*manifest.Job{}
	var errs []error
	for i := range set.Jobs {
		job := &set.Jobs[i]
		id := identityOf(*job)
		if first := r.old[id]; first != nil {
			message := fmt.Sprintf("%s is given twice with --old, first at %s", id, first.Whole().Position("metadata.name"))
			errs = append(errs, job.Whole().Error("metadata.name", message))
			continue
		}
		r.old[id] = job
	}
	return errors.Join(errs...)
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
