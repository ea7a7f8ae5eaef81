// Package history implements the verb history, which writes the records of Jobs and their Pods to keep after their deletion.
package history

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/verdicts"
	controllerplan "github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/history"
)

type options struct {
	input verdicts.Options
	live  io.Writer // standard output, written directly: a cluster may have more than fits in memory twice
}

// New returns the verb history.
func New(p *cli.Program) *cobra.Command {
	o := options{live: p.Stdout}
	cmd := &cobra.Command{
		Use:   "history {-A | TYPE/NAME... | TYPE [NAME...] | FILE...}",
		Short: "Write what is to be kept of Jobs and their Pods",
		Long: `Write what is to be kept of Jobs and their Pods before they are deleted, as
podverdict-controller --history does: an object in JSON on each line. A Pod that
failed comes with its verdict, by the policies in force. A Pod that succeeded
and a Job that has finished come alone. All others are left out.

docs/history.md says what is in a line. eval, explain, report and suggest read
such lines. Files are Jobs and Pods as kubectl get -o yaml writes them.
` + cli.ConnectionHelp,
		Example: `  podverdict history -A | zstd > $(date +%F).ndjson.zst
  podverdict history jobs -n batch > batch.ndjson
  podverdict history -f job.yaml -f pods.yaml > kept.ndjson`,
		RunE: cli.Run(p, &o, run),
	}
	o.input.AddSourceFlags(p, cmd)
	return cmd
}

// run reads Jobs with their Pods, judges the failed Pods, and writes history lines.
func run(ctx context.Context, c *cli.Console, o *options, args []string) (err error) {
	in, err := o.input.Read(ctx, c, args)
	defer in.Close() //nolint:staticcheck // it is to be closed also after an error
	defer func() { err = cli.JoinUnread(in.Unread, err) }()
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(o.live, 1<<16)
	for one, err := range in.Judge(ctx, c, &o.input) {
		if err == nil {
			err = cli.StdoutError(writeLines(out, one, in.Now))
		}
		if err != nil {
			return errors.Join(err, cli.StdoutError(out.Flush()))
		}
	}
	if in.Nothing != "" {
		c.Note(in.Nothing)
	}
	return cli.StdoutError(out.Flush())
}

// writeLines writes the lines of the Pods and of the Job.
func writeLines(out io.Writer, one *verdicts.Judged, now time.Time) (err error) {
	p := one.Plan
	job := history.Reference{Namespace: p.Stored.Namespace, Name: p.Stored.Name, UID: p.Stored.UID}
	if one.Job.Name == "" {
		job = history.Reference{}
	}
	write := func(line any) { err = cmp.Or(err, history.Write(out, line)) }
	for i, item := range one.Items {
		switch pod := p.Pods[i].Object; pod.Status.Phase {
		case corev1.PodFailed:
			write(history.NewVerdict(now, job, pod, item.Verdict, item.Would))
		case corev1.PodSucceeded:
			write(history.Pod(pod))
		default: // not ended
		}
	}
	if controllerplan.Finished(p.Stored) {
		write(history.Job(p.Stored))
	}
	return err
}
