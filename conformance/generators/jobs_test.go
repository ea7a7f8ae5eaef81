package generators

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
)

// jobDraws draws one of each.
func jobDraws(g *Jobs) []any {
	job, old := g.Update()
	written, stored := g.StatusUpdate()
	cron, oldCron := g.CronJobUpdate()
	return []any{g.Job(), job, old, g.CronJob(), cron, oldCron, written, stored}
}

func TestJobGeneratorIsAFunctionOfItsArguments(t *testing.T) {
	for _, hostile := range []bool{false, true} {
		a, b, other := NewJobs(1, hostile), NewJobs(1, hostile), NewJobs(2, hostile)
		same := true
		for range 50 {
			first := jobDraws(a)
			if diff := cmp.Diff(first, jobDraws(b)); diff != "" {
				t.Fatal(diff)
			}
			same = same && cmp.Equal(first, jobDraws(other))
		}
		if same {
			t.Error("another seed has the same draws")
		}
	}
}

// Draws are owned by the caller: they share nothing, neither with another nor
// with the vocabularies.
func TestJobGeneratorSharesNothing(t *testing.T) {
	g := NewJobs(3, true)
	draws := jobDraws(g)
	before, err := json.Marshal(draws)
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		jobDraws(g)
	}
	after, err := json.Marshal(draws)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Error(diff)
	}
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

func TestCronJobHasTheSpecOfAJob(t *testing.T) {
	cron := NewJobs(6, false).CronJob()
	if cron.Kind != "CronJob" || cron.APIVersion != batchv1.SchemeGroupVersion.String() || len(cron.Spec.JobTemplate.Spec.Template.Spec.Containers) == 0 {
		t.Errorf("got %+v", cron)
	}
}
