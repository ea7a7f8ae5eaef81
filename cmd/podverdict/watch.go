package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
)

// follow writes verdicts as Pods fail. An interrupt is its proper end.
func (e *evaluation) follow(cmd *cobra.Command, args []string) error {
	if files, err := e.input.files(cmd, args); files || err != nil {
		return err // --watch with files is an error
	}
	e.input.now.begin()
	given, err := e.input.readPolicy(cmd)
	if err != nil {
		return err
	}
	c, shown, err := e.input.connect(cmd)
	if err != nil {
		return err
	}
	policies, err := readClusterPolicies(cmd, c)
	if err != nil {
		return err
	}
	planned, err := e.input.newPlanner(cmd, given, policies)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := newVerdictStream(e.stdout, e.output.name, e.input.query.AllNamespaces, policies.Audits())
	plans := planCache{planner: planned, plans: map[types.UID]plan{}}
	return c.Watch(ctx, e.input.query, cluster.Listener{
		Failed: func(job manifest.Job, pod manifest.Pod) error {
			shown.end()
			p, err := plans.plan(ctx, job)
			if err != nil {
				complain(cmd.ErrOrStderr(), err) // of this Job: the others have verdicts
				return nil
			}
			members := manifest.Family{Job: job, Pods: []manifest.Pod{pod}}
			f := family{Family: members, plan: p, attempts: attempts(members)}
			return out.write(e.input.judge(context.WithoutCancel(ctx), &f, pod))
		},
		Notice: func(text string) { paragraph(cmd.ErrOrStderr(), text) },
	})
}

// maxPlans is how many Jobs a watch keeps planned.
const maxPlans = 1000

// planCache remembers the plans of Jobs, whose policies cannot change.
type planCache struct {
	*planner

	plans map[types.UID]plan
}

func (c planCache) plan(ctx context.Context, job manifest.Job) (plan, error) {
	if p, ok := c.plans[job.Object.UID]; ok {
		return p, nil
	}
	p, err := c.planner.plan(ctx, job)
	if err != nil {
		return plan{}, err
	}
	if len(c.plans) >= maxPlans {
		clear(c.plans)
	}
	c.plans[job.Object.UID] = p
	return p, nil
}

// verdictEvent is what a watch writes as JSON and YAML for each Pod.
type verdictEvent struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	verdictItem
}

// verdictStream writes verdicts one by one.
type verdictStream struct {
	out    io.Writer
	format string
	table  *verdictTable
}

func newVerdictStream(out io.Writer, format string, namespaces, audits bool) *verdictStream {
	return &verdictStream{out, format, newVerdictTable(out, format == "wide", namespaces, audits)}
}

func (s *verdictStream) write(item verdictItem) error {
	event := verdictEvent{apiVersion, "Verdict", item}
	switch s.format {
	case "json":
		return s.writeJSON(event)
	case "yaml":
		var text bytes.Buffer
		text.WriteString("---\n")
		if err := report.WriteYAML(&text, event); err != nil {
			return err
		}
		_, err := text.WriteTo(s.out)
		return stdoutError(err)
	}
	return stdoutError(s.table.print([]verdictItem{item}))
}

// writeJSON writes an object a line, for those who read lines.
func (s *verdictStream) writeJSON(event verdictEvent) error {
	encoder := json.NewEncoder(s.out)
	encoder.SetEscapeHTML(false)
	return stdoutError(encoder.Encode(event))
}
