//go:build !js

package main

import (
	"context"
	"fmt"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/internal/evidence"
	"github.com/podverdict/podverdict/internal/snapshot"
)

// rulebook returns the rules of the input.
func (in *input) rulebook(c *cli.Console, kubernetes string) (*snapshot.Rulebook, error) {
	p, err := newPlanner(c, kubernetes, in.policies, nil)
	if err != nil {
		return nil, err
	}
	return snapshot.NewRulebook(p.book.Environment, p.custom.For), nil
}

// otherRulebook returns the rules with those of --policy, or nil without it.
func (in *input) otherRulebook(c *cli.Console, kubernetes string) (*snapshot.Rulebook, error) {
	if in.own == nil && len(in.added) == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	policies := *in.policies
	for _, policy := range in.added {
		policies.Add(policy)
	}
	p, err := newPlanner(c, kubernetes, &policies, in.own)
	if err != nil {
		return nil, err
	}
	book := snapshot.NewRulebook(p.book.Environment, p.custom.For)
	book.AsManaged = len(in.added) > 0
	if in.own != nil {
		book.Instead = in.own.Object
	}
	return book, nil
}

// sumUp sums up all Jobs. Jobs that cannot be judged are reported like documents that cannot be read.
func (in *input) sumUp(ctx context.Context, c *cli.Console, s evidence.Summing) (*evidence.Sum, error) {
	shown := cli.NewProgress(c.Stderr, "Pods counted", in.Pods)
	defer shown.End()
	s.Progress = shown.Add
	sum, err := evidence.SumUp(ctx, in.Families(), s)
	in.leave(sum.Unjudged...)
	if sum.More > 0 {
		in.leave(fmt.Errorf("%d more Jobs have no verdicts for such reasons", sum.More))
	}
	return sum, err
}
