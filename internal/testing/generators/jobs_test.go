package generators

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// jobDraws draws one object of each kind.
func jobDraws(g *Jobs) []any {
	job, old := g.Update()
	written, stored := g.StatusUpdate()
	cron, oldCron := g.CronJobUpdate()
	return []any{g.Job(), job, old, g.CronJob(), cron, oldCron, written, stored}
}

// TestUpdatesKeepTheName tests that updates keep the identity of a Job, because the API server would only report a change
// of it.
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
