package check

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/runtime/rego"
)

type options struct {
	files      manifest.Options
	old        []string // files with the objects that files replaces
	configured string   // name of the settings file
	kubernetes string
	only, skip []string
	failOn     string
	fix, diff  bool
	suggest    bool // include limits
	output     cli.Format
}

// New returns the verb check.
func New(p *cli.Program) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:        "check [PATH...]",
		SuggestFor: []string{"lint", "validate"},
		Short:      "Check manifests: constraints, guardrails, and rules that mislead",
		Long: `Check the Jobs, CronJobs and custom policies in files, as a gate before they
reach a cluster. One report has three groups of findings:

  constraints   what the API server would refuse or warn of
  rules         what never matches, or does something else than it seems to
  guardrails    what is legal and unwise, as platform teams see it

Guardrails are a platform's choice, and off: guardrails: recommended in
.podverdict.yaml turns them on, and so does --only guardrails.

--only and --skip choose groups or single rules. podverdict rules lists all, and
podverdict rules ID explains one.

A PATH is a file, a directory, which is read with all below it, a URL, or - for
standard input; without one, the current directory is checked. For what is in a
cluster, pipe what kubectl get prints. With --old, objects that are in that file
too are updated, and the constraints are those of an update.

A comment says that a finding is meant to be, and why:

  # podverdict:ignore ttl-out-of-bounds the pipeline deletes these Jobs

It is for the value that it stands behind or before, with all below it; at the
head of a document, for the document. The annotation ignore.podverdict.io/ID:
REASON does the same for an object.

settings of a repository are in .podverdict.yaml, in the current directory or
above it.

--fix repairs in the files what needs no thought: exit codes that are not in
order or twice there, and rules for disruptions after those on exit codes.
Comments and layout stay, and what is left is reported. --diff shows the same
repairs and changes nothing. Repairs keep the verdict on every Pod that does not
have the condition DisruptionTarget.

--suggest shows, beside the repairs, limits that guardrails ask for (ttl,
deadline, back-off limit, replacement policy). They may end a Job that works, so
--fix leaves them out; --fix --suggest writes them.`,
		Example: `  podverdict check manifests/ --fail-on warning
  kubectl get jobs,cronjobs -A -o yaml | podverdict check -
  podverdict check manifests/ --only guardrails --suggest
  podverdict check policy.yaml --only rules
  podverdict check new.yaml --old old.yaml
  podverdict check manifests/ -o sarif > podverdict.sarif
  podverdict check manifests/ --diff
  podverdict check manifests/ --fix`,
		RunE: cli.Run(p, &o, run),
	}
	addCheckFlags(p, cmd, &o)
	return cmd
}

func addCheckFlags(p *cli.Program, cmd *cobra.Command, o *options) {
	flags := cmd.Flags()
	p.AddFileFlags(flags, &o.files)
	flags.StringSliceVar(&o.old, "old", nil, "file, directory, URL or - with the objects that those to check replace")
	flags.StringVar(&o.configured, "settings", "", "file with settings, in place of "+manifest.SettingsFile)
	cli.AddKubernetesFlag(flags, &o.kubernetes)
	flags.StringSliceVar(&o.only, "only", nil, "groups and ids of the rules to ask: constraints, guardrails, rules; podverdict rules lists the ids")
	flags.StringSliceVar(&o.skip, "skip", nil, "groups and ids of rules to leave out")
	flags.StringVar(&o.failOn, "fail-on", "error", "least severity that makes the exit code 1: "+strings.Join(failOn, ", "))
	flags.BoolVar(&o.fix, "fix", false, "repair in the files what needs no thought, and report what is left")
	flags.BoolVar(&o.diff, "diff", false, "show the repairs that --fix would make, and change nothing")
	flags.BoolVar(&o.suggest, "suggest", false, "show limits that guardrails ask for, too; with --fix, write them")
	p.AddFormat(cmd, &o.output, findings.Formats()...)
	cli.AddListCompletion(cmd, "only", catalogue.Names)
	cli.AddListCompletion(cmd, "skip", catalogue.Names)
	cli.AddCompletion(cmd, "fail-on", func() []string { return failOn })
}

// run reads files, inspects their objects, and prints one report.
func run(ctx context.Context, c *cli.Console, o *options, args []string) error {
	o.addPaths(args)
	o.diff = o.diff || o.suggest && !o.fix
	g, err := newGate(ctx, c, o)
	if err != nil {
		return err
	}
	found, err := g.inspect(ctx)
	if err != nil {
		return err
	}
	if !o.fix && !o.diff {
		return g.print(found)
	}
	repaired, err := g.repair(ctx, found)
	if err != nil {
		return err
	}
	if o.diff {
		err := g.printRepairs(repaired)
		return cmp.Or(g.printUnread(found), err)
	}
	if err := g.writeRepairs(repaired); err != nil {
		return err
	}
	if found, err = g.inspect(ctx); err != nil {
		return err
	}
	return g.print(found)
}

// addPaths adds the paths to read. Directories among the arguments are read recursively.
func (o *options) addPaths(args []string) {
	if len(args)+len(o.files.Filenames) == 0 {
		args = []string{"."}
	}
	o.files.Filenames = append(o.files.Filenames, args...)
	o.files.Recursive = o.files.Recursive || len(args) > 0
}

// gate is a run of check: its flags, joined with the settings of the repository.
type gate struct {
	*options

	console   *cli.Console
	settings  *settings
	inspector inspector
}

// newGate reads the settings and the objects of --old.
func newGate(ctx context.Context, c *cli.Console, o *options) (g *gate, err error) {
	stdin := slices.Contains(o.files.Filenames, "-")
	switch {
	case !slices.Contains(failOn, o.failOn):
		return nil, cli.UsageError(cli.ChoiceError("fail-on", o.failOn, failOn...))
	case (o.fix || o.diff) && stdin:
		return nil, cli.Usagef("--fix, --diff and --suggest are for files, not for standard input")
	case slices.Contains(o.old, "-") && stdin:
		return nil, cli.StdinTwiceError("--old")
	}
	g = &gate{options: o, console: c}
	if err := g.readSettings(ctx); err != nil {
		return nil, err
	}
	if g.inspector.choice, err = g.settings.choice(o.only, o.skip); err != nil {
		return nil, cli.UsageError(err)
	}
	g.inspector.kubernetes = o.kubernetes
	if g.inspector.validator, err = g.validator(ctx); err != nil {
		return nil, err
	}
	g.inspector.replaced, err = g.readOld(ctx)
	return g, err
}

// readSettings reads the settings of the repository, if any. Flags given by the user override them.
func (g *gate) readSettings(ctx context.Context) (err error) {
	file := g.configured
	if file == "" {
		if file, err = findSettings("."); file == "" {
			g.settings = &settings{}
			return err
		}
	}
	if g.settings, err = readSettings(ctx, file); err != nil {
		return err
	}
	if !g.console.Given("fail-on") {
		g.failOn = cmp.Or(g.settings.FailOn, g.failOn)
	}
	if !g.console.Given("strict") {
		g.files.Strict = g.settings.Strict
	}
	if !g.console.Given("kubernetes") {
		g.kubernetes = cmp.Or(g.settings.Kubernetes, compiler.DefaultVersion)
	}
	return nil
}

// validator returns a function that compiles the constraints and guardrails, or nil if none are chosen. It also validates the settings of
// guardrails, because a mistake in them is not a finding about a Job.
func (g *gate) validator(ctx context.Context) (func() (*rego.Validator, error), error) {
	o := rego.Options{Guardrails: g.inspector.choice.asks(catalogue.Guardrails), Warnings: true}
	if !o.Guardrails && !g.inspector.choice.asks(catalogue.Constraints) {
		return nil, nil //nolint:nilnil // there is nothing to compile
	}
	if o.Guardrails {
		o.Settings = g.settings.configuration(g.inspector.choice)
	}
	compiled := sync.OnceValues(func() (*rego.Validator, error) { return rego.New(ctx, o) })
	if len(o.Settings) == 0 {
		return compiled, nil
	}
	_, err := compiled()
	var errs []error
	for _, err := range manifest.EachError(err) {
		if wrong, ok := errors.AsType[*rego.SettingError](err); ok {
			err = g.settings.errorAt(wrong)
		}
		errs = append(errs, err)
	}
	return compiled, errors.Join(errs...)
}
