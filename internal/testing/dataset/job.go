package dataset

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/input/gathering"
)

// begin is the first moment of the month.
var begin = time.Date(2026, time.October, 1, 0, 0, 0, 0, time.UTC)

type life struct {
	*generator
	traits
	app *app
	job *batchv1.Job

	waiting, active []attempt // the end of a waiting attempt is the time when it may begin
	backoff         time.Time // earliest begin of the next Pod
	streak          int       // failures since the last success
	failures        map[int]int32
	done, failed    []int
}

func (g *generator) addJob(a *app) {
	created := begin.Add(g.between(0, 29*24*time.Hour))
	l := &life{generator: g, app: a, job: a.Job.DeepCopy(), traits: g.traits(a), failures: map[int]int32{}}
	l.job.Name, l.job.UID = a.Job.GenerateName+strconv.FormatInt(created.Unix()/60, 10)+g.suffix(), types.UID(fmt.Sprintf("job-%d", g.jobs))
	l.job.CreationTimestamp = metav1.NewTime(created)
	l.job.Status.StartTime = new(metav1.NewTime(created))
	if main := &l.job.Spec.Template.Spec.Containers[0]; main.Image == g.image && created.After(begin.AddDate(0, 0, 9)) {
		main.Image = g.badImage
		for _, list := range []corev1.ResourceList{main.Resources.Requests, main.Resources.Limits} {
			if memory := list[corev1.ResourceMemory]; l.roomy {
				memory.Add(memory)
				list[corev1.ResourceMemory] = memory
			}
		}
	}
	g.Records = append(g.Records, gathering.Record{Job: l.job})
	for line := range int(*l.job.Spec.Completions) {
		l.waiting = append(l.waiting, attempt{line: line, end: created})
	}
	l.run(created)
}

// run starts and ends attempts until the Job has ended.
func (l *life) run(now time.Time) {
	kind, reason := batchv1.JobComplete, batchv1.JobReasonCompletionsReached
	for len(l.active)+len(l.waiting) > 0 && kind == batchv1.JobComplete {
		for len(l.active) < int(*l.job.Spec.Parallelism) && len(l.waiting) > 0 {
			l.start(now)
		}
		slices.SortFunc(l.active, func(a, b attempt) int { return a.end.Compare(b.end) })
		a := l.active[0]
		l.active, now = l.active[1:], a.end
		l.Records = append(l.Records, gathering.Record{Pod: a.finish()})
		l.pods++
		if a.code == 0 {
			l.job.Status.Succeeded++
			l.streak, l.done = 0, append(l.done, a.line)
		} else if because := l.count(a); because != "" {
			kind, reason = batchv1.JobFailed, because
		}
	}
	if len(l.failed) > 0 {
		kind, reason = batchv1.JobFailed, batchv1.JobReasonFailedIndexes
	}
	l.conclude(metav1.NewTime(now.Add(2*time.Second)), kind, reason)
}

// count counts a failed attempt. It returns the reason if the Job fails.
func (l *life) count(a attempt) string {
	action, limit := l.action(a), l.job.Spec.BackoffLimitPerIndex
	if action != batchv1.PodFailurePolicyActionIgnore {
		l.job.Status.Failed++
		l.failures[a.line]++
	}
	l.streak++
	switch {
	case action == batchv1.PodFailurePolicyActionFailJob:
		return batchv1.JobReasonPodFailurePolicy
	case limit == nil && l.job.Status.Failed > *l.job.Spec.BackoffLimit:
		return batchv1.JobReasonBackoffLimitExceeded
	case limit == nil:
		l.backoff = a.end.Add(delay(l.streak))
	case action == batchv1.PodFailurePolicyActionFailIndex || l.failures[a.line] > *limit:
		l.failed = append(l.failed, a.line)
		return ""
	default:
		a.end = a.end.Add(delay(int(l.failures[a.line])))
	}
	l.waiting = append(l.waiting, a)
	return ""
}

// delay returns the Job controller's back-off after consecutive failures.
func delay(failures int) time.Duration {
	return min(10*time.Second<<min(max(failures, 1)-1, 10), 10*time.Minute)
}

// action returns the action of the Job's rules for a failure.
func (l *life) action(a attempt) batchv1.PodFailurePolicyAction {
	if l.job.Spec.PodFailurePolicy != nil {
		for _, r := range l.job.Spec.PodFailurePolicy.Rules {
			if r.OnExitCodes != nil && slices.Contains(r.OnExitCodes.Values, a.code) || r.OnPodConditions != nil && a.cause.Disruption != "" {
				return r.Action
			}
		}
	}
	return batchv1.PodFailurePolicyActionCount
}

// conclude writes the Job's final status.
func (l *life) conclude(at metav1.Time, kind batchv1.JobConditionType, reason string) {
	first, s := batchv1.JobFailureTarget, &l.job.Status
	if kind == batchv1.JobComplete {
		first, s.CompletionTime = batchv1.JobSuccessCriteriaMet, &at
	}
	for _, t := range []batchv1.JobConditionType{first, kind} {
		s.Conditions = append(s.Conditions, batchv1.JobCondition{Type: t, Status: corev1.ConditionTrue, Reason: reason, LastProbeTime: at, LastTransitionTime: at})
	}
	if *l.job.Spec.CompletionMode == batchv1.IndexedCompletion {
		s.CompletedIndexes = plan.Indexes(l.done)
	}
	if l.job.Spec.BackoffLimitPerIndex != nil {
		s.FailedIndexes = new(plan.Indexes(l.failed))
	}
}
