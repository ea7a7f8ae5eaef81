package main

import (
	"slices"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// noJobName is the name of the Job that stands in where Pods have none, as those of Airflow or Argo do. No object can have it.
const noJobName = "(none)"

// noJob returns the Job that stands in for that of Pods in a namespace. As podverdict's own controller runs it, policies take effect.
func noJob(namespace string) manifest.Job {
	job := standIn()
	job.Object.Name, job.Object.Namespace = noJobName, namespace
	return job
}

// bare reports whether the Pods of a plan have no Job.
func (p *plan) bare() bool { return p.stored.Name == noJobName }

// allBare reports whether there are Pods, none of which says that it belongs to a Job.
func allBare(pods []manifest.Pod) bool {
	return len(pods) > 0 && !slices.ContainsFunc(pods, func(pod manifest.Pod) bool {
		claim, _ := manifest.ClaimOf(pod.Object)
		return claim.Name != ""
	})
}

// bareFamilies gives Pods without Jobs a Job that stands in, one for each namespace.
func bareFamilies(pods []manifest.Pod) []manifest.Family {
	var families []manifest.Family
	for _, pod := range pods {
		namespace := pod.Reference().Namespace
		at := slices.IndexFunc(families, func(f manifest.Family) bool { return f.Job.Object.Namespace == namespace })
		if at < 0 {
			at = len(families)
			families = append(families, manifest.Family{Job: noJob(namespace)})
		}
		families[at].Pods = append(families[at].Pods, pod)
	}
	return families
}

// name returns the name of the Job, which is empty where Pods have none.
func (p *plan) name() manifest.Reference {
	if p.bare() {
		return manifest.Reference{}
	}
	return p.job.Reference()
}
