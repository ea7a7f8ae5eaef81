package generators

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// jobDraws draws one of each.
func jobDraws(g *Jobs) []any {
	job, old := g.Update()
	written, stored := g.StatusUpdate()
	cron, oldCron := g.CronJobUpdate()
	return []any{g.Job(), job, old, g.CronJob(), cron, oldCron, written, stored}
}

// Updates keep what identifies a Job, or the API server would say no more than that.
func TestUpdatesKeepTheName(t *testing.T) {
	g, changed := NewJobs(5, true), 0
	for range 500 {
		job, old := g.Update()
		if job.Name != old.Name || job.Namespace != old.Namespace || job.UID != old.UID {
			t.Fatalf("%s/%s becomes %s/%s", old.Namespace, old.Name, job.Namespace, job.Name)
		}
		if !cmp.Equal(job, old) {
			changed++
		}
	}
	if changed < 250 {
		t.Errorf("%d of 500 updates change something", changed)
	}
}
