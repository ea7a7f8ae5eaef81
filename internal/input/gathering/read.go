package gathering

import (
	"context"
	"errors"

	"github.com/podverdict/podverdict/internal/evidence"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// Read adds the Jobs and Pods of files to a Gathering, as Records does.
func Read(ctx context.Context, o manifest.Options, g *Gathering, progress func(pods int)) (*manifest.Set, error) {
	return Records(ctx, o, g.WholePods, g.Add, progress)
}

// Records hands the Jobs and Pods of files to add, and calls progress, which may be nil, with how many Pods have come. Pods have all
// their fields if whole is true or the input has custom policies. The Set has everything else. The error is that of manifest.Read:
// what could be read is added all the same. CronJobs and JobSets are in the Set as the Jobs that they make. Custom policies must
// come before the first few MiB of Pods.
func Records(
	ctx context.Context, o manifest.Options, whole bool, add func(evidence.Record) error, progress func(pods int),
) (*manifest.Set, error) {
	var failed error
	o.TakeJob = func(j manifest.Job) {
		if j.Object.Name == "" {
			return // the API server would name it: a manifest, which has no Pods
		}
		job := *j.Object
		job.Namespace = j.Reference().Namespace
		failed = errors.Join(failed, add(evidence.Record{Job: &job}))
	}
	stream := manifest.Open(ctx, o)
	defer stream.Close()
	fields := evidence.PodFields
	if len(stream.Set.Policies) > 0 || whole {
		fields = nil
	}
	for pods, err := range stream.Pods(fields) {
		if err != nil {
			return stream.Set, errors.Join(err, stream.Err())
		}
		for _, p := range pods {
			p.Object.Namespace = p.Reference().Namespace
			failed = errors.Join(failed, add(evidence.Record{Pod: p.Object, Verdict: p.Recorded}))
		}
		if failed != nil {
			return stream.Set, failed
		}
		if progress != nil {
			progress(len(pods))
		}
	}
	return stream.Set, errors.Join(failed, stream.Err(), ctx.Err())
}
