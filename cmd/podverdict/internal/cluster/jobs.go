package cluster

import (
	"context"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
)

// Jobs reads the Jobs and CronJobs of a query, each once.
func (c *Cluster) Jobs(ctx context.Context, q Query) ([]manifest.Job, error) {
	var jobs []manifest.Job
	for _, t := range q.Targets {
		found, err := c.jobsOf(ctx, q, t)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, found...)
	}
	return jobs, nil
}

func (c *Cluster) jobsOf(ctx context.Context, q Query, t Target) ([]manifest.Job, error) {
	switch {
	case t.Kind == CronJob:
		cronJobs, err := c.cronJobs(ctx, q, t)
		jobs := make([]manifest.Job, len(cronJobs))
		for i := range cronJobs {
			jobs[i] = manifest.LiveCronJob(&cronJobs[i])
		}
		return jobs, err
	case t.Kind == Job && t.Name != "":
		job, err := get(ctx, c, t, c.batch.Jobs(c.Namespace).Get)
		if err != nil {
			return nil, err
		}
		return []manifest.Job{manifest.LiveJob(job)}, nil
	default:
		found, err := c.listJobs(ctx, c.scope(q), q.Selector)
		jobs := make([]manifest.Job, len(found))
		for i := range found {
			jobs[i] = manifest.LiveJob(&found[i])
		}
		return jobs, err
	}
}
