//go:build !js

package main

import (
	"context"
	"fmt"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/rulebook"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/evidence"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/snapshot"
)

// rules returns the rules of the input, and those with the ones of --policy, which are nil without it.
func (o *reportOptions) rules(c *cli.Console, in *input) (of, other *snapshot.Rulebook, err error) {
	if of, err = rulesOf(c, o.input.kubernetes, in.policies, nil); err != nil || in.own == nil && len(in.added) == 0 {
		return of, nil, err
	}
	policies := *in.policies
	for _, policy := range in.added {
		policies.Add(policy)
	}
	if other, err = rulesOf(c, o.input.kubernetes, &policies, in.own); err != nil {
		return nil, nil, err
	}
	other.AsManaged = len(in.added) > 0
	if in.own != nil {
		other.Instead = in.own.Object
	}
	return of, other, nil
}

// rulesOf returns rules that do not warn of single Jobs.
func rulesOf(c *cli.Console, kubernetes string, policies *effective.Source, replacement *manifest.Job) (*snapshot.Rulebook, error) {
	book, err := rulebook.New(c, kubernetes, policies, replacement)
	if err != nil {
		return nil, err
	}
	return snapshot.NewRulebook(book.Environment, book.Custom.For), nil
}

// sumAll sums up all Jobs. Jobs that cannot be judged are reported like documents that cannot be read.
func sumAll(ctx context.Context, c *cli.Console, in *input, s evidence.Summing) (*evidence.Sum, error) {
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
