package diff

import (
	"context"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/verdicts"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/cluster"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// side is the set of rules before or after a change.
type side struct {
	name     string
	set      *manifest.Set
	live     bool
	pods     []manifest.Pod // Pods of a Job in a cluster
	policies *effective.Source
}

// readSide reads a side: a file, or an object of a cluster. An existing file wins over a cluster object of the same name.
func (d *difference) readSide(ctx context.Context, c *cli.Console, o *options, name string) (side, error) {
	if targets, err := cluster.ParseTargets([]string{name}, o.source.Kinds...); err == nil && strings.Contains(name, "/") && !cli.IsFile(name) {
		return o.readLive(ctx, c, name, targets)
	}
	files := o.source.Files
	files.Filenames = []string{name}
	set, err := d.readSound(ctx, c, files)
	if err != nil {
		return side{}, err
	}
	if len(set.Jobs)+len(set.Policies) == 0 {
		return side{}, cli.ErrorIn(name, cli.ErrNoPolicies)
	}
	if err := set.CheckPolicies(); err != nil {
		return side{}, err
	}
	if len(set.Jobs) == 0 {
		set.Bindings = verdicts.BindAll(set.Policies)
	}
	return side{name: name, set: set, policies: effective.FromFiles(set)}, nil
}

// readLive reads a Job or CronJob from a cluster, the Pods of a Job, and the policies of the cluster.
func (o *options) readLive(ctx context.Context, c *cli.Console, name string, targets []cluster.Target) (side, error) {
	side := side{name: name, set: &manifest.Set{}, live: true}
	client, shown, err := o.source.Connect(c)
	if err != nil {
		return side, err
	}
	defer shown.End()
	query := cluster.Query{Targets: targets}
	if side.set.Jobs, err = client.Jobs(ctx, query); err != nil {
		return side, err
	}
	if targets[0].Kind == cluster.Job {
		found, err := client.JobsWithPods(ctx, query)
		if err != nil {
			return side, err
		}
		side.pods = found.Pods
	}
	side.policies, err = verdicts.ClusterPolicies(ctx, c, client)
	return side, err
}

// share copies a cluster's policies to the other side, unless the other side has its own policies or comes from a cluster itself.
func (d *side) share(other *side) {
	if d.live && !other.live && len(other.set.Policies) == 0 {
		other.policies = d.policies
	}
}

// shareNodes gives both sides the same nodes: the nodes from files, or else from a cluster.
func (d *difference) shareNodes(given *manifest.Set) {
	all := &manifest.Set{Nodes: slices.Concat(d.before.set.Nodes, d.after.set.Nodes, given.Nodes)}
	nodes := effective.FromFiles(all).Nodes
	for _, side := range []*side{&d.before, &d.after} {
		if side.live && len(all.Nodes) == 0 {
			nodes = side.policies.Nodes
		}
	}
	d.before.policies.Nodes, d.after.policies.Nodes = nodes, nodes
}
