package eval

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/verdicts"
	"github.com/podverdict/podverdict/internal/input/cluster"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// watch prints the verdict on each Pod as it fails, for eval --watch. An interrupt is its regular end.
func watch(ctx context.Context, c *cli.Console, o *options, args []string) error {
	source := &o.input.Source
	if err := source.Parse(c, args); err != nil {
		return err
	}
	in, err := o.input.ReadPolicy(ctx, c)
	if err := cli.JoinUnread(in.Unread, err); err != nil {
		return err // a watch has no end at which to report errors
	}
	client, shown, err := source.Connect(c)
	if err != nil {
		return err
	}
	if in.Policies, err = verdicts.ClusterPolicies(ctx, c, client); err != nil {
		return err
	}
	for _, policy := range in.Added {
		in.Policies.Add(policy)
	}
	planner, err := verdicts.NewPlanner(c, o.input.Kubernetes, in.Policies, in.Own)
	if err != nil {
		return err
	}
	interrupted, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	page := o.printing().Live(time.Now)
	plans := map[types.UID]*verdicts.Plan{} // by UID of Jobs, whose policies cannot change
	return client.Watch(interrupted, source.Query, cluster.Listener{
		Failed: func(job manifest.Job, pod manifest.Pod) error {
			shown.End()
			p, known := plans[job.Object.UID]
			if !known {
				planned, err := planner.Plan(interrupted, job)
				if err != nil {
					cli.Complain(c.Stderr, err) // skip this Job: the others have verdicts
					return nil
				}
				if len(plans) >= maxPlans {
					clear(plans)
				}
				p, plans[job.Object.UID] = planned, planned
			}
			p.Missing.Pods = true // Pods before this one
			if err := p.AddPods(ctx, []manifest.Pod{pod}); err != nil {
				cli.Complain(c.Stderr, err)
			}
			verdict := p.Judge(ctx, in.Now).Items[0] // an interrupt does not cut it short
			return cli.StdoutError(page.Write(verdict))
		},
		Notice: c.Note,
	})
}

// maxPlans is the maximum number of Jobs whose plans a watch keeps.
const maxPlans = 1000
