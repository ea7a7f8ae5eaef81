package jobset

import (
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Status returns the status of the JobSet after the decision: the counts of restarts and the terminal state. Conditions do not change.
func (d Decision) Status(set *v1alpha2.JobSet) v1alpha2.JobSetStatus {
	status := *set.Status.DeepCopy()
	switch {
	case d.Failed:
		status.TerminalState = string(v1alpha2.JobSetFailed)
	case d.Restart == 0:
	case d.OneJob():
		d.countJob(set, &status)
	default:
		status.Restarts++
		if d.Counted {
			status.RestartsCountTowardsMax++
		}
	}
	return status
}

// countJob adds the restart of a single Job to a status.
func (d Decision) countJob(set *v1alpha2.JobSet, status *v1alpha2.JobSetStatus) {
	counts := jobCounts(set, d.Job)
	index, err := counts.indexOf(d.Job, d.Counted)
	if err != nil {
		return
	}
	counts.restarts[index]++
	of := replicatedJobStatus(status, d.Job.Labels[v1alpha2.ReplicatedJobNameKey])
	of.JobRestarts = counts.restarts
	if d.Counted {
		counts.counted[index]++
		of.JobRestartsCountTowardsMax = counts.counted
	}
}

// replicatedJobStatus returns the part of a status that is about a replicatedJob, and adds it if it is missing.
func replicatedJobStatus(status *v1alpha2.JobSetStatus, name string) *v1alpha2.ReplicatedJobStatus {
	all := &status.ReplicatedJobsStatus
	i := slices.IndexFunc(*all, func(s v1alpha2.ReplicatedJobStatus) bool { return s.Name == name })
	if i < 0 {
		i = len(*all)
		*all = append(*all, v1alpha2.ReplicatedJobStatus{Name: name})
	}
	return &(*all)[i]
}

// restartCounts holds, for each Job of a replicatedJob, the number of its individual restarts, and of those that count towards maxRestarts.
type restartCounts struct{ restarts, counted []int32 }

// jobCounts returns the counts of a Job's replicatedJob. Counts missing from the status are zero.
func jobCounts(set *v1alpha2.JobSet, job *batchv1.Job) (c restartCounts) {
	name := job.Labels[v1alpha2.ReplicatedJobNameKey]
	for _, r := range set.Spec.ReplicatedJobs {
		if r.Name == name {
			c = restartCounts{make([]int32, max(r.Replicas, 0)), make([]int32, max(r.Replicas, 0))}
		}
	}
	for _, s := range set.Status.ReplicatedJobsStatus {
		if s.Name == name && len(s.JobRestarts) > 0 {
			c.restarts = slices.Clone(s.JobRestarts)
		}
		if s.Name == name && len(s.JobRestartsCountTowardsMax) > 0 {
			c.counted = slices.Clone(s.JobRestartsCountTowardsMax)
		}
	}
	return c
}

// indexOf returns the index of a Job in its replicatedJob, for a restart that may be counted.
func (c restartCounts) indexOf(job *batchv1.Job, counted bool) (int, error) {
	jobs := len(c.restarts)
	if counted {
		jobs = min(jobs, len(c.counted))
	}
	label := job.Labels[v1alpha2.JobIndexKey]
	index, err := strconv.Atoi(label)
	if err != nil || index < 0 || index >= jobs {
		return 0, fmt.Errorf("label %s of Job %s is %q, and should be the number of one of %d Jobs", v1alpha2.JobIndexKey, job.Name, label, jobs)
	}
	return index, nil
}

// countedJobRestarts returns the number of restarts of single Jobs that count towards maxRestarts.
func countedJobRestarts(status *v1alpha2.JobSetStatus) (total int32) {
	for _, s := range status.ReplicatedJobsStatus {
		for _, n := range s.JobRestartsCountTowardsMax {
			total += n
		}
	}
	return total
}
