package gathering

import (
	"context"
	"errors"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// Records reads all sources in Options and passes Jobs and Pods to add. Pods of long input have only the given fields; nil selects all.
// Objects that create Jobs are in the Set.
func Records(ctx context.Context, o manifest.Options, fields cel.Fields, add func(Record) error) (*manifest.Set, error) {
	stream := manifest.Open(ctx, o)
	defer stream.Close()
	err := passOn(stream, fields, func(records []Record) error {
		for _, r := range records {
			if err := add(r); err != nil {
				return err
			}
		}
		return nil
	}, nil)
	return stream.Set, errors.Join(err, stream.Err(), ctx.Err())
}

// Read reads all sources in Options. For long input, fields is called with the objects read so far, and Pods keep only the fields that it
// returns. A nil function or result keeps all fields. If progress is not nil, it is called with the number of Pods read. The error joins
// all errors, as in manifest.Read; the Gathering holds everything that could be read.
func Read(ctx context.Context, o manifest.Options, fields func(*manifest.Set) cel.Fields, progress func(pods int)) (*Gathering, error) {
	g := New(o.Namespace)
	stream := manifest.Open(ctx, o)
	defer stream.Close()
	g.Set, g.Long = stream.Set, !stream.Whole
	if stream.Whole {
		for _, pod := range g.Set.Pods {
			g.holdPod(pod)
		}
	} else if err := g.addBatches(ctx, stream, fieldsOf(fields, stream.Set), progress); err != nil {
		return g, errors.Join(err, stream.Err())
	}
	for i := range g.Set.Jobs {
		g.Hold(&g.Set.Jobs[i])
	}
	return g, errors.Join(stream.Err(), ctx.Err())
}

// addBatches adds the Jobs and Pods of a stream, encoding them on all cores.
func (g *Gathering) addBatches(ctx context.Context, stream *manifest.Stream, fields cel.Fields, progress func(pods int)) error {
	workers, failed := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	_ = passOn(stream, fields, func(records []Record) error {
		workers.Go(func() error { return g.Add(records...) })
		return failed.Err()
	}, progress)
	return workers.Wait()
}

// passOn passes on the Pods of a stream, and the Jobs that no other object of the input creates.
func passOn(stream *manifest.Stream, fields cel.Fields, add func([]Record) error, progress func(pods int)) error {
	for batch := range stream.Batches(fields) {
		records := make([]Record, 0, len(batch.Jobs)+len(batch.Pods))
		for _, job := range batch.Jobs {
			records = append(records, Record{Job: job.Object, Origin: job.Origin})
		}
		for _, pod := range batch.Pods {
			records = append(records, Record{Pod: pod.Object, Verdict: pod.Recorded, Origin: pod.Origin})
		}
		if err := add(records); err != nil {
			return err
		}
		if progress != nil {
			progress(len(batch.Pods))
		}
	}
	return nil
}

func fieldsOf(fields func(*manifest.Set) cel.Fields, set *manifest.Set) cel.Fields {
	if fields == nil {
		return nil
	}
	return fields(set)
}
