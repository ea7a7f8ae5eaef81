package main

import (
	"io"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
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
engine. Exits with 1 when a vector fails.`,
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

func (c *conformity) ask(cmd *cobra.Command, engine conformance.Engine, selected *regexp.Regexp) (conformance.Report, error) {
	minor, err := c.minor()
	if err != nil {
		return conformance.Report{}, err
	}
	vectors, err := conformance.Vectors()
	if err != nil {
		return conformance.Report{}, err
	}
	expected, err := conformance.ExpectedFailures(c.engine)
	if err != nil {
		return conformance.Report{}, err
	}
	return conformance.Run(cmd.Context(), engine, vectors, conformance.Options{
		Engine: c.engine, Select: selected, Kubernetes: minor, ExpectedFailures: expected,
	})
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

func (c *conformity) write(w io.Writer, r conformance.Report) error {
	switch c.output.name {
	case "json":
		return r.WriteJSON(w)
	case "junit":
		return r.WriteJUnit(w)
	}
	return r.WriteTable(w)
}
