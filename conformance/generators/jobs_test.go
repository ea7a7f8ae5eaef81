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

// Every fault changes a legal Job, most of the time; that it breaks the constraint it
// is named for is upstream's to say.
func TestJobFaults(t *testing.T) {
	ids := map[string]bool{}
	for _, fault := range jobFaults {
		if ids[fault.id] {
			t.Errorf("%s is there twice", fault.id)
		}
		ids[fault.id] = true
		g, changed := NewJobs(4, true), 0
		for range 100 {
			job := g.legalJob()
			before := job.DeepCopy()
			fault.add(g, job)
			if !cmp.Equal(before, job) {
				changed++
			}
		}
		if changed < 60 {
			t.Errorf("%s changed %d of 100 Jobs", fault.id, changed)
		}
	}
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
