package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/conformance/protocol"
)

// engineOptions are the flags of engine.
type engineOptions struct {
	name string
	live io.Writer // standard output: engine is a conversation
}

func newEngine(live io.Writer) *cobra.Command {
	o := engineOptions{live: live}
	cmd := &cobra.Command{
		Use:   "engine",
		Short: "Answer requests, one JSON object a line, until the end of input",
		Long: `Answer requests from standard input on standard output, one JSON object a line, until the end of input:

  {"id":"1","op":"verdict","policy":{"rules":[...]},"pod":{...}}
  {"id":"1","verdict":{...}}
  {"id":"2","op":"validate","job":{...},"oldJob":{...}}
  {"id":"2","errors":[{"field":"...","type":"FieldValueInvalid","detail":"..."}]}

Validation is answered by the Rego bundle, in the API server's words; oldJob is there when the Job is updated. A policy that the API server would refuse is judged as the Job controller would. A line that is no request gets a
response with an error, and the stream goes on.`,
		Example: `  podverdict engine < requests.jsonl > responses.jsonl
  podverdict conformance --engine 'exec:podverdict engine --engine go'`,
		Args: noArguments,
		RunE: verb(&o, engine),
	}
	cmd.Flags().StringVar(&o.name, "engine", engineCEL, "who answers: cel (the compiled rules), go (their definition in plain Go) or rego (the bundle)")
	return cmd
}

func engine(ctx context.Context, c *console, o *engineOptions, _ []string) error {
	answering, err := engineNamed(o.name)
	if err != nil {
		return err
	}
	return protocol.Server{Verdict: answering, Validate: regoValidator(ctx)}.Serve(ctx, c.stdin, o.live)
}
