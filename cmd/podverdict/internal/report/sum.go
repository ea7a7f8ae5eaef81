package report

import (
	"context"
	"fmt"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/rulebook"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/verdicts"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/evidence"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/snapshot"
)

// rules returns the rules of the input, and the rules with --policy; other is nil without --policy.
func (o *options) rules(c *cli.Console, in *verdicts.Input) (of, other *snapshot.Rulebook, err error) {
	if of, err = rulesOf(c, o.input.Kubernetes, in.Policies, nil); err != nil || in.Own == nil && len(in.Added) == 0 {
		return of, nil, err
	}
	policies := *in.Policies
	for _, policy := range in.Added {
		policies.Add(policy)
	}
	if other, err = rulesOf(c, o.input.Kubernetes, &policies, in.Own); err != nil {
		return nil, nil, err
	}
	other.AsManaged = len(in.Added) > 0
	if in.Own != nil {
		other.Instead = in.Own.Object
	}
	return of, other, nil
}

// rulesOf returns a Rulebook without warnings about single Jobs.
func rulesOf(c *cli.Console, kubernetes string, policies *effective.Source, replacement *manifest.Job) (*snapshot.Rulebook, error) {
	book, err := rulebook.New(c, kubernetes, policies, replacement)
	if err != nil {
		return nil, err
	}
	return snapshot.NewRulebook(book.Environment, book.Custom.For), nil
}

// sumAll sums up all Jobs. Jobs that cannot be judged are reported like unreadable documents.
func sumAll(ctx context.Context, c *cli.Console, in *verdicts.Input, s evidence.Summing) (*evidence.Sum, error) {
	shown := cli.NewProgress(c.Stderr, "Pods counted", in.Pods)
	defer shown.End()
	s.Progress = shown.Add
	sum, err := evidence.SumUp(ctx, in.Families(), s)
	in.Leave(sum.Unjudged...)
	if sum.More > 0 {
		in.Leave(fmt.Errorf("%d more Jobs have no verdicts for such reasons", sum.More))
	}
	return sum, err
}
