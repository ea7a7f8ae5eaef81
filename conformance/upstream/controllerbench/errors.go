package controllerbench

import (
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
)

func errTrial(t Trial, err error) error {
	return fmt.Errorf("%s, %d pods %s: %w", t.Contender.Name, t.Pods, t.Shape.Name, err)
}

// errContender returns the error for a controller that stopped by itself.
func errContender(err error) error {
	if err == nil {
		err = errors.New("it ended before the Job did")
	}
	return fmt.Errorf("the controller: %w", err)
}

func errFinished(c *batchv1.JobCondition, want Milestone) error {
	return fmt.Errorf("the Job is %s before its pods are %s: %s: %s", c.Type, want, c.Reason, c.Message)
}

func errStuck(want Milestone, s sight) error {
	return fmt.Errorf("nothing changes for %v before the pods are %s: %v", patience, want, s)
}

func errMilestone(name string, all []Milestone) error {
	return fmt.Errorf("unknown milestone %q: there are %v", name, all)
}

func errShape(name string) error {
	return fmt.Errorf("unknown shape %q: there are %q and %q", name, Succeed().Name, Fail().Name)
}

func errLimit(l Limit) error {
	return fmt.Errorf("QPS %v and burst %d: both must be positive numbers", l.QPS, l.Burst)
}

func errSize(pods int) error {
	return fmt.Errorf("%d pods: a Job has from 1 to 10000 here, which is what one without maxFailedIndexes may run at a time", pods)
}

func errRuns(runs int) error {
	return fmt.Errorf("%d runs: there must be at least one, or 0 for what suits the size", runs)
}
