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

// Summing says how families are summed up.
type Summing struct {
	// Rules give the verdicts, and Other, if it is not nil, those whose Effect is reported.
	Rules, Other *snapshot.Rulebook
	// Since leaves out attempts that ended earlier.
	Since time.Time
	// Progress, if it is not nil, is called with how many Pods have been counted.
	Progress func(pods int)
}

// Sum is what families sum up to.
type Sum struct {
	Fold   Fold
	Effect Effect
	// Unjudged says of Jobs why their Pods have no verdicts, of the first hundred. More is how many others there are.
	Unjudged []error
	More     int
}

const maxUnjudged = 100

// SumUp sums up all families.
func SumUp(ctx context.Context, families iter.Seq2[gathering.Family, error], by Summing) (*Sum, error) {
	sum := &Sum{Fold: Fold{Since: by.Since}}
	for f, err := range gathering.Whole(families) {
		if err != nil {
			return sum, err
		}
		if err := sum.Add(ctx, by, f); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// Add adds a whole family. A Job that cannot be judged, as its rules are not legal, is counted without verdicts.
func (s *Sum) Add(ctx context.Context, by Summing, whole gathering.Family) error {
	for f := range cases(whole) {
		if err := ctx.Err(); err != nil {
			return err
		}
		o, err := Of(ctx, f, by.Rules)
		if err != nil {
			s.leave(err)
			if o, err = Of(ctx, f, nil); err != nil {
				return err
			}
		}
		s.Fold.Add(&o)
		if err := s.compare(ctx, by, f, &o); err != nil {
			s.leave(err)
		}
	}
	if by.Progress != nil {
		by.Progress(len(whole.Pods))
	}
	return nil
}

// leave remembers a Job that has no verdicts.
func (s *Sum) leave(why error) {
	if len(s.Unjudged) < maxUnjudged {
		s.Unjudged = append(s.Unjudged, why)
	} else {
		s.More++
	}
}

// compare adds what the verdicts of the other judge would have changed in a Job, from Since on.
func (s *Sum) compare(ctx context.Context, by Summing, f gathering.Family, o *Outcome) error {
	if by.Other == nil || f.Job == nil {
		return nil
	}
	snap, err := snapshotOf(ctx, &f, f.Job.Stored(), by.Other, false)
	if err != nil {
		return fmt.Errorf("job %s/%s, with other rules: %w", f.Namespace, f.Name, err)
	}
	named := make(map[string]runtime.Verdict, len(f.Pods))
	for i, d := range snap.Decisions(ctx) {
		named[f.Pods[i].Object.Name] = d.Verdict
	}
	since := *o
	since.Attempts = slices.DeleteFunc(slices.Clone(o.Attempts), func(a Attempt) bool { return a.End.Before(by.Since) })
	effect := Replay(&since, named)
	s.Effect.Merge(&effect)
	return nil
}
