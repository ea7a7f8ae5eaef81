package controllerbench

import (
	"context"
	"fmt"
	"io"
	"math"

	"k8s.io/client-go/rest"
)

// mostPods is what the API server lets a Job with backoffLimitPerIndex run at a time without a maxFailedIndexes.
const mostPods = 10_000

// A Comparison is the same trials of two controllers, in turn.
type Comparison struct {
	Config    *rest.Config // of an administrator, on an API server where nothing else is done
	Peer, Own Contender
	Limit     Limit
	Shapes    []Shape
	Sizes     []int     // of Jobs, in pods
	Runs      int       // of each trial; 0 is 5 of 10 pods and less, 3 up to 100, 1 above
	Last      Milestone // where trials end; the ends of the Jobs if it is empty
	Log       io.Writer // says what is going on
}

// Check says what is wrong with the Comparison.
func (c Comparison) Check() error {
	if qps := float64(c.Limit.QPS); qps <= 0 || math.IsNaN(qps) || math.IsInf(qps, 1) || c.Limit.Burst <= 0 {
		return errLimit(c.Limit)
	}
	if c.Runs < 0 {
		return errRuns(c.Runs)
	}
	for _, pods := range c.Sizes {
		if pods < 1 || pods > mostPods {
			return errSize(pods)
		}
	}
	return nil
}

// Run makes all trials. The Table has what was measured even when there is an error.
func (c Comparison) Run(ctx context.Context) (*Table, error) {
	table := &Table{Peer: c.Peer.Name, Own: c.Own.Name}
	if err := c.Check(); err != nil {
		return table, err
	}
	for _, pods := range c.Sizes {
		for _, shape := range c.Shapes {
			peer, own, err := c.runs(ctx, shape, pods)
			if err != nil {
				return table, err
			}
			table.add(shape, pods, peer, own)
		}
	}
	return table, nil
}

// runs returns the phases of all runs of one trial. The controllers take turns to begin, because the machine's speed varies.
func (c Comparison) runs(ctx context.Context, shape Shape, pods int) (peer, own [][]Phase, err error) {
	turns := []struct {
		contender Contender
		runs      *[][]Phase
	}{{c.Peer, &peer}, {c.Own, &own}}
	number := c.number(pods)
	for run := range number {
		for i := range turns {
			turn := turns[(run+i)%len(turns)]
			fmt.Fprintf(c.Log, "%d pods %s, run %d of %d: %s\n", pods, shape.Name, run+1, number, turn.contender.Name)
			trial := Trial{Config: c.Config, Contender: turn.contender, Limit: c.Limit, Shape: shape, Pods: pods, Last: c.Last, Log: c.Log}
			phases, err := trial.Run(ctx)
			if err != nil {
				return nil, nil, err
			}
			*turn.runs = append(*turn.runs, phases)
		}
	}
	return peer, own, nil
}

// number returns the number of runs.
func (c Comparison) number(pods int) int {
	switch {
	case c.Runs > 0:
		return c.Runs
	case pods <= 10:
		return 5
	case pods <= 100:
		return 3
	default:
		return 1
	}
}
