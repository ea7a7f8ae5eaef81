package verdicts

import (
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// noJobName is the name of the placeholder Job for Pods without a Job, such as Airflow's or Argo's. It is not a valid object name.
const noJobName = "(none)"

// noJob returns a placeholder Job for the Pods in a namespace that have no Job. It is managed by podverdict's own controller, so policies
// take effect.
func noJob(namespace string) *manifest.Job {
	job := StandIn()
	job.Object.Name, job.Object.Namespace = noJobName, namespace
	return &job
}

// bare reports whether the plan's Pods have no Job.
func (p *Plan) bare() bool { return p.Stored.Name == noJobName }

// name returns the Job's name, or an empty reference for Pods without a Job.
func (p *Plan) name() manifest.Reference {
	if p.bare() {
		return manifest.Reference{}
	}
	return p.Job.Reference()
}
