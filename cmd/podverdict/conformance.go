package main

import (
	"context"
	"errors"
	"io"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/reports"
	"github.com/podverdict/podverdict/conformance/vectors"
	"github.com/podverdict/podverdict/runtime/rego"
)

type conformity struct {
	engine     string
	kubernetes string
	pattern    string
	output     format
}

func newConformance() *cobra.Command {
	var c conformity
	cmd := &cobra.Command{
		Use:   "conformance",
		Short: "Hold an engine to the KEPs",
		Long: `Run the conformance vectors, each of which holds one sentence of KEP-3329 or KEP-3850, against an engine: cel (the
compiled rules), go (their definition in plain Go), rego (the bundle), or exec:COMMAND, any program that speaks the protocol of the verb
engine. The bundle is also held to the vectors of what is said of a Job: constraints/, by the API server, and guardrails/. Exits with 1
when a vector fails.`,
		Example: `  podverdict conformance
  podverdict conformance --engine 'exec:./my-engine --flag' -o junit > conformance.xml
  podverdict conformance --run '^actions/'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&c.engine, "engine", engineCEL, "engine to ask: cel, go, rego or exec:COMMAND")
	flags.StringVar(&c.kubernetes, "kubernetes", "", "run only the vectors of this minor version of Kubernetes")
	flags.StringVar(&c.pattern, "run", "", "run only the vectors whose names match this regular expression")
	addFormat(cmd, &c.output, "table", "json", "junit")
	return cmd
}

func (c *conformity) run(cmd *cobra.Command) error {
	selected, err := regexp.Compile(c.pattern)
	if err != nil {
		return errUsage(cmd, err)
	}
	engine, closeEngine, err := startEngine(cmd.Context(), c.engine)
	if err != nil {
		return err
	}
	r, err := c.ask(cmd, engine, selected)
	ended := closeEngine()
	if err != nil {
		return err
	}
	if ended != nil && r.OK() {
		return ended // else the report says it
	}
	if err := c.write(cmd.OutOrStdout(), r); err != nil {
		return err
	}
	if !r.OK() {
		return errFindings
	}
	return nil
}

func (c *conformity) ask(cmd *cobra.Command, engine conformance.Engine, selected *regexp.Regexp) (reports.Report, error) {
	minor, err := c.minor()
	if err != nil {
		return reports.Report{}, err
	}
	all, err := vectors.Verdicts()
	if err != nil {
		return reports.Report{}, err
	}
	expected, err := vectors.ExpectedFailures(c.engine)
	if err != nil {
		return reports.Report{}, err
	}
	o := vectors.Options{Engine: c.engine, Select: selected, Kubernetes: minor, ExpectedFailures: expected}
	r, err := vectors.Run(cmd.Context(), engine, all, o)
	if c.engine != engineRego || minor != "" && minor != compiler.DefaultVersion || err != nil && !errors.Is(err, vectors.ErrNoneSelected) {
		return r, err
	}
	return judged(cmd.Context(), r, o)
}

// judged adds to a report what the bundle says of Jobs.
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

// judgeOf has the validator answer, by the guardrails or by the constraints. Settings go with the object, as
// Gatekeeper sends them, so that the bundle is compiled once for all.
func judgeOf(validator *rego.Validator, guardrails bool) vectors.Judge {
	return func(ctx context.Context, s vectors.Submission) ([]vectors.Finding, error) {
		object := s.Object
		if s.Settings != nil {
			object = map[string]any{"object": s.Object, "parameters": map[string]any{"guardrails": s.Settings}}
		}
		found, err := validator.Validate(ctx, object, s.OldObject)
		var all []vectors.Finding
		for _, f := range found {
			switch ofGuardrail := f.Type == "Guardrail" || f.Type == "Configuration"; {
			case ofGuardrail != guardrails:
			case guardrails:
				all = append(all, vectors.Finding{ID: f.ID, Field: f.Field, Message: f.Message, Severity: f.Severity})
			default:
				all = append(all, vectors.Finding(f))
			}
		}
		return all, err
	}
}

// minor is the version whose vectors to run, empty for all.
func (c *conformity) minor() (string, error) {
	if c.kubernetes == "" {
		return "", nil
	}
	v, err := compiler.ParseVersion(c.kubernetes)
	if err != nil {
		return "", err
	}
	return v.String(), nil
}

func (c *conformity) write(w io.Writer, r reports.Report) error {
	switch c.output.name {
	case "json":
		return r.WriteJSON(w)
	case "junit":
		return r.WriteJUnit(w)
	}
	return r.WriteTable(w)
}
