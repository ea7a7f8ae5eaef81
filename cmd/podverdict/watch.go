package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
)

// watch is eval --watch: it prints the verdict on each Pod as it fails. An interrupt is its proper end.
func watch(ctx context.Context, c *console, o *evalOptions, args []string) error {
	source := &o.input.source
	if err := source.parse(c, args); err != nil {
		return err
	}
	in, added, err := o.input.readPolicy(ctx, c)
	if err != nil {
		return err
	}
	client, shown, err := source.connect(c)
	if err != nil {
		return err
	}
	if in.policies, err = readClusterPolicies(ctx, c, client); err != nil {
		return err
	}
	if added != nil {
		in.policies.Add(*added)
	}
	planner, err := newPlanner(c, o.input.kubernetes, in.policies, in.own)
	if err != nil {
		return err
	}
	interrupted, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := newVerdictStream(o.live, o.output.name, source.query.AllNamespaces, in.policies.Audits())
	plans := planCache{}
	return client.Watch(interrupted, source.query, cluster.Listener{
		Failed: func(job manifest.Job, pod manifest.Pod) error {
			shown.end()
			p, err := plans.plan(interrupted, planner, job)
			if err != nil {
				complain(c.stderr, err) // of this Job: the others have verdicts
				return nil
			}
			p.take([]manifest.Pod{pod})
			return out.write(p.judge(ctx, in.now)[0]) // an interrupt does not cut a verdict short
		},
		Notice: c.note,
	})
}

// planCache holds the plans of Jobs, whose policies cannot change.
type planCache map[types.UID]plan

// maxPlans is how many Jobs a watch keeps planned.
const maxPlans = 1000

func (cache planCache) plan(ctx context.Context, planner *planner, job manifest.Job) (plan, error) {
	if p, ok := cache[job.Object.UID]; ok {
		return p, nil
	}
	p, err := planner.plan(ctx, job)
	if err != nil {
		return plan{}, err
	}
	if len(cache) >= maxPlans {
		clear(cache)
	}
	cache[job.Object.UID] = p
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
	case "json": // an object a line, for those who read lines
		encoder := json.NewEncoder(s.out)
		encoder.SetEscapeHTML(false)
		return errStdout(encoder.Encode(event))
	case "yaml":
		text := bytes.NewBufferString("---\n")
		if err := report.WriteYAML(text, event); err != nil {
			return err
		}
		_, err := text.WriteTo(s.out)
		return errStdout(err)
	}
	return errStdout(s.table.print([]verdictItem{item}))
}
