package engine

import (
	"context"
	"errors"
	"io"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/reports"
	"github.com/podverdict/podverdict/conformance/vectors"
	"github.com/podverdict/podverdict/runtime/rego"
)

type conformanceOptions struct {
	engine     string
	kubernetes string
	pattern    string
	output     cli.Format
}

// NewConformance returns the conformance command.
func NewConformance(p *cli.Program) *cobra.Command {
	var o conformanceOptions
	cmd := &cobra.Command{
		Use:   "conformance",
		Short: "Run the conformance vectors against an engine",
		Long: `Run the conformance vectors against an engine. Each vector holds one sentence of
KEP-3329 or KEP-3850, or one rule about Jobs: constraints of the API server, or
guardrails.

The engines are cel (the compiled rules), go (their definition in plain Go),
rego (the bundle), and exec:COMMAND, any program that speaks the protocol of
"podverdict engine". Exits with 1 when a vector fails.`,
		Example: `  podverdict conformance
  podverdict conformance --engine 'exec:./my-engine --flag' -o junit > conformance.xml
  podverdict conformance --run '^actions/'`,
		Args: cli.NoArguments,
		RunE: cli.Run(p, &o, runConformance),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.engine, "engine", engineCEL, "engine to ask: cel, go, rego or exec:COMMAND")
	cli.AddCompletion(cmd, "engine", func() []string { return []string{engineCEL, engineGo, engineRego, "exec:"} })
	flags.StringVar(&o.kubernetes, "kubernetes", "", "run only the vectors of this minor version of Kubernetes")
	flags.StringVar(&o.pattern, "run", "", "run only the vectors whose names match this regular expression")
	p.AddFormat(cmd, &o.output, "table", "json", "junit")
	return cmd
}

// runConformance starts an engine, runs the vectors against it, and prints the report.
func runConformance(ctx context.Context, c *cli.Console, o *conformanceOptions, _ []string) error {
	selected, err := regexp.Compile(o.pattern)
	if err != nil {
		return cli.UsageError(err)
	}
	engine, closeEngine, err := startEngine(ctx, o.engine)
	if err != nil {
		return err
	}
	r, err := o.ask(ctx, engine, selected)
	ended := closeEngine()
	if err != nil {
		return err
	}
	if ended != nil && r.OK() {
		return ended // otherwise, the report contains the error
	}
	if err := writeConformance(c.Stdout, o.output.Name, r); err != nil {
		return err
	}
	if !r.OK() {
		return cli.ErrFindings
	}
	return nil
}

func writeConformance(w io.Writer, format string, r reports.Report) error {
	switch format {
	case "json":
		return r.WriteJSON(w)
	case "junit":
		return r.WriteJUnit(w)
	}
	return r.WriteTable(w)
}

func (o *conformanceOptions) ask(ctx context.Context, engine conformance.Engine, selected *regexp.Regexp) (reports.Report, error) {
	options := vectors.Options{Engine: o.engine, Select: selected}
	if o.kubernetes != "" {
		minor, err := compiler.ParseVersion(o.kubernetes)
		if err != nil {
			return reports.Report{}, err
		}
		options.Kubernetes = minor.String()
	}
	all, err := vectors.Verdicts()
	if err != nil {
		return reports.Report{}, err
	}
	r, err := vectors.Run(ctx, engine, all, options)
	another := options.Kubernetes != "" && options.Kubernetes != compiler.DefaultVersion
	if o.engine != engineRego || another || err != nil && !errors.Is(err, vectors.ErrNoneSelected) {
		return r, err
	}
	return judged(ctx, r, options)
}

// judged adds the results of the vectors about Jobs, which are evaluated by the bundle.
func judged(ctx context.Context, r reports.Report, o vectors.Options) (reports.Report, error) {
	validator, err := rego.New(ctx, rego.Options{Guardrails: true, Warnings: true})
	if err != nil {
		return r, err
	}
	for _, family := range []struct {
		vectors func() ([]vectors.JobVector, error)
		judge   vectors.Judge
	}{
		{vectors.Constraints, judgeOf(validator, false)},
		{vectors.Guardrails, judgeOf(validator, true)},
	} {
		all, err := family.vectors()
		if err != nil {
			return r, err
		}
		more, err := vectors.RunJobs(ctx, family.judge, nil, all, o)
		if r.Results = append(r.Results, more.Results...); err != nil && !errors.Is(err, vectors.ErrNoneSelected) {
			return r, err
		}
	}
	if len(r.Results) == 0 {
		return r, vectors.ErrNoneSelected
	}
	return r, nil
}

// judgeOf returns the judge for vectors about guardrails or constraints. Settings are passed with each object, as in Gatekeeper, so
// that all vectors share one compiled bundle.
func judgeOf(validator *rego.Validator, guardrails bool) vectors.Judge {
	return func(ctx context.Context, s vectors.Submission) ([]vectors.Finding, error) {
		object := s.Object
		if s.Settings != nil {
			object = map[string]any{"object": s.Object, "parameters": map[string]any{"guardrails": s.Settings}}
		}
		found, err := validator.Validate(ctx, object, s.OldObject)
		var all []vectors.Finding
		for _, f := range found {
			if ofGuardrail := f.Type == "Guardrail" || f.Type == "Configuration"; ofGuardrail != guardrails {
				continue
			}
			if guardrails {
				f.Type, f.Detail = "", "" // not present in guardrail vectors
			}
			all = append(all, vectors.Finding(f))
		}
		return all, err
	}
}
