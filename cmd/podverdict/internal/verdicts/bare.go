package verdicts

import (
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// noJobName is the name of the Job that stands in where Pods have none, as those of Airflow or Argo do. No object can have it.
const noJobName = "(none)"

// noJob returns the Job that stands in for that of Pods in a namespace. As podverdict's own controller runs it, policies take effect.
func noJob(namespace string) *manifest.Job {
	job := StandIn()
	job.Object.Name, job.Object.Namespace = noJobName, namespace
	return &job
}

// bare reports whether the Pods of a plan have no Job.
func (p *Plan) bare() bool { return p.Stored.Name == noJobName }

// name returns the name of the Job, which is empty where Pods have none.
func (p *Plan) name() manifest.Reference {
	if p.bare() {
		return manifest.Reference{}
	}
	return p.Job.Reference()
}
