package verdicts

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/internal/input/gathering"
)

// cronJobOf returns the CronJob of a Family if it has run in a cluster and none of its Jobs or Pods are in the input, or nil otherwise.
func cronJobOf(f gathering.Family) *batchv1.CronJob {
	if f.Job == nil || f.Job.CronJob == nil || f.Job.MadeBy != "" || len(f.Pods) > 0 || f.Job.CronJob.Status.LastScheduleTime == nil {
		return nil
	}
	return f.Job.CronJob
}

// judgedCronJob returns a CronJob without verdicts.
func judgedCronJob(p *Plan, cron *batchv1.CronJob, now time.Time) *Judged {
	one := &Judged{JobItem: p.jobItem(now), Plan: p}
	one.cronJob = cron
	return one
}

// cronJobText describes what blocks the next run of a CronJob. It returns "" if nothing does.
func cronJobText(cron *batchv1.CronJob) string {
	var active []string
	for _, run := range cron.Status.Active {
		active = append(active, run.Name)
	}
	last := "last run scheduled at " + cron.Status.LastScheduleTime.UTC().Format(time.RFC3339)
	switch {
	case ptr.Deref(cron.Spec.Suspend, false):
		return "suspended, no run starts; " + last
	case len(active) > 0 && cron.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent:
		return fmt.Sprintf("no run starts before %s has ended (concurrencyPolicy: Forbid); %s", strings.Join(active, ", "), last)
	}
	return ""
}
