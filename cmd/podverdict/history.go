//go:build !js

package main

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
	controllerplan "github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/history"
)

type historyOptions struct {
	input inputOptions
	live  io.Writer // standard output: a cluster may have more than fits in memory twice
}

func newHistory(p *cli.Program) *cobra.Command {
	o := historyOptions{live: p.Stdout}
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
		RunE: cli.Run(p, &o, writeHistory),
	}
	o.input.source.AddFlags(p, cmd.Flags(), sourceKinds...)
	cli.AddKubernetesFlag(cmd.Flags(), &o.input.kubernetes)
	cli.AddSourceCompletions(cmd, &o.input.source)
	return cmd
}

// writeHistory reads Jobs with their Pods, judges those that failed, and writes lines.
func writeHistory(ctx context.Context, c *cli.Console, o *historyOptions, args []string) (err error) {
	in, err := o.input.read(ctx, c, args)
	defer in.close()
	defer func() { err = cli.JoinUnread(in.unread, err) }()
	if err != nil {
		return err
	}
	j, err := newJudging(c, &in, &o.input)
	if err != nil {
		return err
	}
	if in.nothing != "" {
		c.Note(in.nothing)
	}
	out := bufio.NewWriterSize(o.live, 1<<16)
	for one, err := range j.each(ctx, c) {
		if err == nil {
			err = cli.StdoutError(writeLines(out, one, in.now))
		}
		if err != nil {
			return errors.Join(err, cli.StdoutError(out.Flush()))
		}
	}
	return cli.StdoutError(out.Flush())
}

// writeLines writes the lines of the Pods and of the Job.
func writeLines(out io.Writer, one *judged, now time.Time) (err error) {
	p := one.plan
	job := history.Reference{Namespace: p.stored.Namespace, Name: p.stored.Name, UID: p.stored.UID}
	if one.Job.Name == "" {
		job = history.Reference{}
	}
	write := func(line any) { err = cmp.Or(err, history.Write(out, line)) }
	for i, item := range one.items {
		switch pod := p.pods[i].Object; pod.Status.Phase {
		case corev1.PodFailed:
			write(history.NewVerdict(now, job, pod, item.Verdict, item.Would))
		case corev1.PodSucceeded:
			write(history.Pod(pod))
		default: // it has not ended
		}
	}
	if controllerplan.Finished(p.stored) {
		write(history.Job(p.stored))
	}
	return err
}
