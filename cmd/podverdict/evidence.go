//go:build !js

package main

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/evidence"
	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/snapshot"
)

// gathered is the input of verbs that sum up how Pods have failed.
type gathered struct {
	*gathering.Gathering
	input

	added []manifest.Policy // of --policy
	pods  int
}

// gather reads the Jobs and Pods of files or of a cluster, as many as there are. The caller closes the result, also after an error.
func (o *inputOptions) gather(ctx context.Context, c *cli.Console, args []string) (*gathered, error) {
	in, added, err := o.readPolicy(ctx, c)
	g := &gathered{Gathering: gathering.New(""), input: in, added: added}
	g.WholePods, o.now = len(added) > 0, in.now
	if err != nil {
		return g, err
	}
	if err := o.source.Parse(c, args); err != nil {
		return g, err
	}
	if o.source.FromFiles() {
		err = g.readFiles(ctx, c, o.source.Files)
	} else {
		err = g.readCluster(ctx, c, &o.source)
	}
	return g, err
}

func (g *gathered) readFiles(ctx context.Context, c *cli.Console, files manifest.Options) error {
	files.Stdin = c.Stdin
	shown := cli.NewProgress(c.Stderr, "Pods read", 0)
	set, err := gathering.Read(ctx, files, g.Gathering, func(n int) { g.pods += n; shown.Add(n) })
	shown.End()
	cli.NoteSkipped(c, set)
	given := *set
	given.Pods = make([]manifest.Pod, min(1, g.pods)) // they were taken away, and broken ones can be left out where there are others
	unread, err := cli.SplitErrors(&given, err, files.Strict)
	if err != nil {
		return err
	}
	g.leave(unread)
	g.policies = effective.FromFiles(set)
	if g.pods == 0 {
		g.nothing = "no Pods in the input"
	}
	return set.CheckPolicies()
}

func (g *gathered) readCluster(ctx context.Context, c *cli.Console, source *cli.Source) error {
	if err := g.input.readCluster(ctx, c, source); err != nil {
		return err
	}
	for _, f := range g.families {
		if !g.bare {
			if err := g.Add(evidence.Record{Job: f.Job.Object}); err != nil {
				return err
			}
		}
		for _, pod := range f.Pods {
			g.pods++
			if err := g.Add(evidence.Record{Pod: pod.Object}); err != nil {
				return err
			}
		}
	}
	g.families = nil // they are gathered
	return nil
}

// judge returns the judge by the rules of the input.
func (g *gathered) judge(c *cli.Console, kubernetes string) (*snapshot.Rulebook, error) {
	p, err := newPlanner(c, kubernetes, g.policies, nil)
	if err != nil {
		return nil, err
	}
	return snapshot.NewRulebook(p.book.Environment, p.custom.For), nil
}

// other returns the judge by the rules of --policy, or nil without it.
func (g *gathered) other(c *cli.Console, kubernetes string) (*snapshot.Rulebook, error) {
	if g.own == nil && len(g.added) == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	policies := *g.policies
	for _, policy := range g.added {
		policies.Add(policy)
	}
	p, err := newPlanner(c, kubernetes, &policies, g.own)
	if err != nil {
		return nil, err
	}
	judge := snapshot.NewRulebook(p.book.Environment, p.custom.For)
	judge.AsManaged = len(g.added) > 0
	if g.own != nil {
		judge.Instead = g.own.Object
	}
	return judge, nil
}

// sum sums up all Jobs. Jobs that cannot be judged are told like documents that cannot be read.
func (g *gathered) sum(ctx context.Context, c *cli.Console, s gathering.Summing) (*gathering.Sum, error) {
	shown := cli.NewProgress(c.Stderr, "Pods counted", g.pods)
	defer shown.End()
	s.Progress = shown.Add
	sum, err := g.Sum(ctx, s)
	g.leave(sum.Unjudged...)
	if sum.More > 0 {
		g.leave(fmt.Errorf("%d more Jobs have no verdicts for such reasons", sum.More))
	}
	return sum, err
}

// spareMemory lets the collector run less often than it would, as a Pod lives for a moment only, and more often once much is in use.
// It returns a function that undoes that.
func spareMemory() (undo func()) {
	percent, limit := debug.SetGCPercent(300), debug.SetMemoryLimit(200<<20)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
