package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/internal/input/cluster"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// watch prints the verdict on each Pod as it fails, as eval --watch does. An interrupt is its proper end.
func watch(ctx context.Context, c *cli.Console, o *evalOptions, args []string) error {
	source := &o.input.source
	if err := source.Parse(c, args); err != nil {
		return err
	}
	in, err := o.input.readPolicy(ctx, c)
	if err := cli.JoinUnread(in.unread, err); err != nil {
		return err // a watch has no end at which to say what is wrong
	}
	client, shown, err := source.Connect(c)
	if err != nil {
		return err
	}
	if in.policies, err = readClusterPolicies(ctx, c, client); err != nil {
		return err
	}
	for _, policy := range in.added {
		in.policies.Add(policy)
	}
	planner, err := newPlanner(c, o.input.kubernetes, in.policies, in.own)
	if err != nil {
		return err
	}
	interrupted, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	table := newVerdictTable(o.live, cli.ScreenOf(o.live, o.color), !o.noHeaders, verdictLayout{
		wide: o.output.Name == "wide", namespaces: source.Query.AllNamespaces, now: time.Now,
	})
	plans := map[types.UID]*plan{} // of Jobs, whose policies cannot change
	return client.Watch(interrupted, source.Query, cluster.Listener{
		Failed: func(job manifest.Job, pod manifest.Pod) error {
			shown.End()
			p, known := plans[job.Object.UID]
			if !known {
				planned, err := planner.plan(interrupted, job)
				if err != nil {
					cli.Complain(c.Stderr, err) // of this Job: the others have verdicts
					return nil
				}
				if len(plans) >= maxPlans {
					clear(plans)
				}
				p, plans[job.Object.UID] = planned, planned
			}
			p.missing.Pods = true // those before this one
			p.addPods([]manifest.Pod{pod})
			if err := planner.lookAtNodes(ctx, p); err != nil {
				cli.Complain(c.Stderr, err)
			}
			verdict := p.judge(ctx, in.now)[0] // an interrupt does not cut it short
			return cli.StdoutError(o.writeVerdict(table, verdict))
		},
		Notice: c.Note,
	})
}

// maxPlans is how many Jobs a watch keeps planned.
const maxPlans = 1000

// verdictEvent is a verdict that stands alone, as JSON and YAML.
type verdictEvent struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	verdictItem
}

// writeVerdict writes one of several verdicts: as JSON on a line, as a YAML document, or as a row of the table.
func (o *evalOptions) writeVerdict(table *verdictTable, item verdictItem) error {
	switch {
	case o.output.Name == "json", o.output.Name == "ndjson":
		return writeLine(o.live, item)
	case o.output.Name == "name":
		_, err := fmt.Fprintln(o.live, "pod/"+item.Pod.Name)
		return err
	case o.output.IsObject():
		var text bytes.Buffer
		if o.output.Name == "yaml" {
			text.WriteString("---\n")
		}
		if err := o.output.WriteObject(&text, verdictEvent{print.APIVersion, "Verdict", item}); err != nil {
			return err
		}
		_, err := text.WriteTo(o.live)
		return err
	}
	table.add(item)
	return table.endJob(jobItem{Job: item.Job})
}
