//go:build !js

package cluster

import (
	"context"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
)

// Jobs reads the Jobs and CronJobs of a query, each once.
func (c *Cluster) Jobs(ctx context.Context, q Query) ([]manifest.Job, error) {
	var jobs []manifest.Job
	for _, t := range q.Targets {
		if t.Kind == CronJob {
			found, err := c.cronJobs(ctx, q, t)
			if err != nil {
				return nil, err
			}
			for i := range found {
				jobs = append(jobs, manifest.LiveCronJob(&found[i]))
			}
			continue
		}
		found, err := c.jobs(ctx, q, t)
		if err != nil {
			return nil, err
		}
		for i := range found {
			jobs = append(jobs, manifest.LiveJob(&found[i]))
		}
	}
	return jobs, nil
}
