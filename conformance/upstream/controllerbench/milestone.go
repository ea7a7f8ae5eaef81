package controllerbench

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
)

// A Milestone in the life of a Job is the end of a phase, which has its name.
type Milestone string

// The milestones, in their order.
const (
	// Created: all pods are there, and counted as active.
	Created Milestone = "created"
	// Replaced: all pods have failed, and as many are there instead. Both are counted.
	Replaced Milestone = "replaced"
	// Finished: all pods have ended, and the Job is Complete or Failed.
	Finished Milestone = "finished"
	// Released: no pod has the tracking finalizer.
	Released Milestone = "released"
)

// ParseMilestone returns the Milestone of the name.
func ParseMilestone(name string) (Milestone, error) {
	all := []Milestone{Created, Replaced, Finished, Released}
	if m := Milestone(name); slices.Contains(all, m) {
		return m, nil
	}
	return "", errMilestone(name, all)
}

// ends reports whether the pods end at the begin of the phase.
func (m Milestone) ends() bool { return m == Replaced || m == Finished }

// reached reports whether a Job of the size is there.
func (m Milestone) reached(s sight, size int) bool {
	active, failed := int(s.status.Active), int(s.status.Failed)
	switch m {
	case Created:
		return active == size && s.unfinished == size
	case Replaced:
		return active == size && s.unfinished == size && failed == size && s.pods == 2*size
	case Finished:
		return s.finish() != nil
	default:
		return s.held == 0
	}
}

// total returns the number of pods that go through the phase.
func (m Milestone) total(s sight, size int) int64 {
	if m == Released {
		return int64(s.pods)
	}
	return int64(size)
}

// progress returns the number of pods for which the phase is over, as a client sees it.
func (m Milestone) progress(s sight, size int) int64 {
	switch m {
	case Created:
		return int64(s.pods)
	case Replaced:
		return int64(s.pods - size)
	case Finished:
		return int64(s.status.Succeeded) + max(0, int64(s.status.Failed)-int64(size)) // the first failures are replaced
	default:
		return int64(s.pods - s.held)
	}
}

// finish returns the condition by which the Job has ended.
func (s sight) finish() *batchv1.JobCondition {
	at := slices.IndexFunc(s.status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed
	})
	if at < 0 {
		return nil
	}
	return &s.status.Conditions[at]
}
