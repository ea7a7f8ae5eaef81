package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/protocol"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/rego"
)

type engineOptions struct {
	name string
}

// New returns the engine command.
func New(p *cli.Program) *cobra.Command {
	var o engineOptions
	cmd := &cobra.Command{
		Use:   "engine",
		Short: "Answer requests, one JSON object a line, until the end of input",
		Long: `Answer requests from standard input on standard output, one JSON object a line,
until the end of input:

  {"id":"1","op":"verdict","policy":{"rules":[...]},"pod":{...}}
  {"id":"1","verdict":{...}}
  {"id":"2","op":"validate","job":{...},"oldJob":{...}}
  {"id":"2","errors":[{"field":"...","type":"...","detail":"..."}]}

The Rego bundle answers validate, in the API server's words; oldJob makes it an
update. A policy that the API server would refuse is judged as the Job
controller would judge it. A line that is no request is answered with an error,
and the stream goes on.`,
		Example: `  podverdict engine < requests.jsonl > responses.jsonl
  podverdict conformance --engine 'exec:podverdict engine --engine go'`,
		Args: cli.NoArguments,
		RunE: cli.Run(p, &o, answer),
	}
	cmd.Flags().StringVar(&o.name, "engine", engineCEL, "who answers: cel (the compiled rules), go (their definition in plain Go) or rego (the bundle)")
	return cmd
}

func answer(ctx context.Context, c *cli.Console, o *engineOptions, _ []string) error {
	answering, err := engineNamed(o.name)
	if err != nil {
		return err
	}
	return protocol.Server{Verdict: answering, Validate: regoValidator(ctx)}.Serve(ctx, c.Stdin, c.Live)
}

// Names of engines.
const (
	engineCEL  = "cel"
	engineGo   = "go"
	engineRego = "rego"

	// engineExec is followed by a command and its arguments, separated by spaces.
	engineExec = "exec:"
)

// engineNamed returns a built-in engine. The error for an unknown name also lists others.
func engineNamed(name string, others ...string) (conformance.Engine, error) {
	switch name {
	case engineCEL:
		return conformance.CEL(), nil
	case engineGo:
		return conformance.Go, nil
	case engineRego:
		return regoEngine(), nil
	}
	known := append([]string{engineCEL, engineGo, engineRego}, others...)
	return nil, fmt.Errorf("no engine %q, there are %s", name, strings.Join(known, ", "))
}

// startEngine returns the engine with the given name, or starts a program as an engine. Such a program runs until closeEngine is called.
func startEngine(ctx context.Context, name string) (engine conformance.Engine, closeEngine func() error, err error) {
	if command, ok := strings.CutPrefix(name, engineExec); ok {
		process, err := protocol.Exec(ctx, strings.Fields(command), 0)
		if err != nil {
			return nil, nil, err
		}
		return process.Verdict, process.Close, nil
	}
	engine, err = engineNamed(name, engineExec+"COMMAND")
	return engine, func() error { return nil }, err
}

// regoEngine returns the engine for the bundle's matching rules, which are compiled on the first request.
func regoEngine() conformance.Engine {
	prepared := sync.OnceValues(rego.NewMatcher)
	return func(ctx context.Context, r conformance.Request) (runtime.Verdict, error) {
		if r.Kubernetes != "" {
			if _, err := compiler.ParseVersion(r.Kubernetes); err != nil {
				return runtime.Verdict{}, err
			}
		}
		matcher, err := prepared()
		if err != nil {
			return runtime.Verdict{}, err
		}
		answer, err := matcher.Match(ctx, r)
		if err != nil {
			return runtime.Verdict{}, err
		}
		var v runtime.Verdict
		err = v.UnmarshalJSON(answer)
		return v, err
	}
}

// regoValidator returns a validator with the built-in rules. They are compiled on the first request, because most streams only request
// verdicts.
func regoValidator(ctx context.Context) protocol.Validator {
	prepared := sync.OnceValues(func() (*rego.Validator, error) { return rego.New(ctx, rego.Options{}) })
	return func(ctx context.Context, job, oldJob *batchv1.Job) ([]protocol.FieldError, error) {
		validator, err := prepared()
		if err != nil {
			return nil, err
		}
		found, err := validator.ValidateJob(ctx, job, oldJob)
		if err != nil {
			return nil, err
		}
		errs := make([]protocol.FieldError, len(found))
		for i, f := range found {
			errs[i] = protocol.FieldError{Field: f.Field, Type: field.ErrorType(f.Type), Detail: f.Detail}
		}
		return errs, nil
	}
}
