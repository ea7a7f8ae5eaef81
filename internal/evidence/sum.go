package evidence

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/runtime"
)

// Summing configures SumUp.
type Summing struct {
	// Rules decide the verdicts. Other, if not nil, decides the alternative verdicts whose Effect is reported.
	Rules, Other *snapshot.Rulebook
	// Since excludes attempts that ended earlier.
	Since time.Time
	// Progress, if not nil, is called with the number of Pods counted.
	Progress func(pods int)
}

// Sum is the aggregate of families.
type Sum struct {
	Fold   Fold
	Effect Effect
	// Unjudged holds the reasons why Jobs' Pods have no verdicts, at most a hundred. More is the number of further ones.
	Unjudged []error
	More     int

	open *outcome // Outcome of a Job whose Pods come in parts
}

const maxUnjudged = 100

// SumUp aggregates all families.
func SumUp(ctx context.Context, families iter.Seq2[gathering.Family, error], by Summing) (*Sum, error) {
	sum := &Sum{Fold: Fold{Since: by.Since}}
	for f, err := range families {
		if err != nil {
			return sum, err
		}
		if err := sum.Add(ctx, by, f); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// Add adds a family, or a part of one. All parts must be added, in order. A Job that cannot be judged, because its rules are invalid, is
// counted without verdicts.
func (s *Sum) Add(ctx context.Context, by Summing, part gathering.Family) error {
	for f := range cases(part) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.open == nil {
			s.open = s.begin(ctx, by, f)
		}
		if s.open.add(ctx, f.Pods, f.More); f.More {
			continue
		}
		o := s.open.end()
		s.Fold.Add(o)
		if s.open.other != nil && f.Job != nil {
			since := *o
			since.Attempts = slices.DeleteFunc(slices.Clone(o.Attempts), func(a Attempt) bool { return a.End.Before(by.Since) })
			s.Effect.Merge(new(Replay(&since, s.open.named)))
		}
		s.open = nil
	}
	if by.Progress != nil {
		by.Progress(len(part.Pods))
	}
	return nil
}

// begin returns the Outcome of a Job without Pods.
func (s *Sum) begin(ctx context.Context, by Summing, f gathering.Family) *outcome {
	o, err := newOutcome(ctx, f, by.Rules)
	if err != nil {
		s.leave(err)
		o, _ = newOutcome(ctx, f, nil) // does not fail without rules
	}
	if by.Other == nil || f.Job == nil {
		return o
	}
	rules, err := by.Other.For(ctx, o.job)
	if err != nil {
		s.leave(fmt.Errorf("job %s/%s, with other rules: %w", f.Namespace, f.Name, err))
		return o
	}
	o.other, o.named = &rules, map[string]runtime.Verdict{}
	return o
}

// leave records a Job without verdicts.
func (s *Sum) leave(why error) {
	if len(s.Unjudged) < maxUnjudged {
		s.Unjudged = append(s.Unjudged, why)
	} else {
		s.More++
	}
}
