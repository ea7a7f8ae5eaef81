package check

import (
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/kube/jobset"
)

// jobSets returns the JobSets of the input with their findings.
func jobSets(jobs []manifest.Job) (subjects []findings.Subject) {
	looked := map[*v1alpha2.JobSet]bool{nil: true}
	for _, job := range jobs {
		if job.Template == "" || looked[job.JobSet] {
			continue
		}
		looked[job.JobSet] = true
		s := newSubject(job)
		s.Kind, s.Name = "JobSet", job.JobSet.Name
		origin := job.SetOrigin()
		for _, f := range jobset.Check(job.JobSet) {
			s.Findings = append(s.Findings, newFinding(origin, f.Check, compiler.Error, f.Field, f.Message, f.Hint))
		}
		inFileOrder(s.Findings)
		subjects = append(subjects, s)
	}
	return subjects
}
