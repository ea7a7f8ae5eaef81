package plan

import (
	"math"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// ConsecutiveFailuresAnnotation holds the number of the Job's pods that had failed since the last success when the pod
// was created. It lets the back-off of a Job without backoffLimitPerIndex survive a restart even if failed pods are
// deleted.
const ConsecutiveFailuresAnnotation = "podverdict.io/consecutive-failures"

// delay returns the remaining back-off after the last of several failures. The first delay doubles with each further
// failure, up to the cap.
func (s Settings) delay(failures int64, last, now time.Time) time.Duration {
	if failures == 0 {
		return 0
	}
	wait := min(s.Backoff, s.MaxBackoff)
	for i := int64(1); i < failures && wait < s.MaxBackoff; i++ {
		wait = min(2*wait, s.MaxBackoff)
	}
	return left(wait, last, now)
}

// left returns the remainder of a wait that began at since.
func left(wait time.Duration, since, now time.Time) time.Duration {
	return max(0, wait-max(0, now.Sub(since))) // clocks may differ
}

// streak is a series of failures without a success in between.
type streak struct {
	Failures int64       `json:"failures"`
	Last     metav1.Time `json:"last"` // finish time of the last failure
	// At lists the pods that failed at time Last, because others with the same time may be seen later. If empty, it means
	// all of them.
	At []types.UID `json:"at,omitempty"`
	// Retry is the longest retryDelay, in seconds, of the pods that finished last, or nil if none has one. Mixed is true
	// if some have one and some do not.
	Retry *int64 `json:"retry,omitempty"`
	Mixed bool   `json:"mixed,omitempty"`
}

// plausible reports whether a Plan could have written the streak.
func (s *streak) plausible() bool {
	const longest = int64(v1alpha1.MaxRetryDelay / time.Second)
	return s.Failures > 0 && !s.Last.IsZero() && (s.Retry == nil || 0 <= *s.Retry && *s.Retry <= longest)
}

// has reports whether the stored streak includes a failure.
func (s *streak) has(p *pod) bool {
	switch {
	case s == nil || p.finish.After(s.Last.Time):
		return false
	case p.finish.Before(s.Last.Time):
		return true
	}
	return len(s.At) == 0 || slices.Contains(s.At, p.UID)
}

// add adds a failed pod that finished last, or at the same time as the last ones.
func (s *streak) add(p *pod) {
	switch {
	case p.finish.After(s.Last.Time):
		s.Last, s.At = metav1.NewTime(p.finish), []types.UID{p.UID}
		s.Retry, s.Mixed = p.retry(), false
		return
	case p.finish.Before(s.Last.Time):
		return
	case len(s.At) > 0 && !slices.Contains(s.At, p.UID):
		s.At = append(s.At, p.UID)
	}
	s.combine(p.retry())
}

// combine adds the retryDelay of one of the pods that finished last. Adding it twice does no harm.
func (s *streak) combine(retry *int64) {
	s.Mixed = s.Mixed || (s.Retry == nil) != (retry == nil)
	if s.Retry == nil || retry != nil && *retry > *s.Retry {
		s.Retry = retry
	}
}

// retry returns the pod's retryDelay in seconds, or nil.
func (p *pod) retry() *int64 {
	if p.verdict.RetryDelay == nil {
		return nil
	}
	return new(int64(*p.verdict.RetryDelay / time.Second))
}

// delay returns the wait before any pod of the Job is replaced: the back-off, or the retryDelay of the rule that the last
// failure matched. If several pods failed last, the longest wait counts.
func (v *view) delay(s streak) time.Duration {
	backoff := v.settings.delay(s.Failures, s.Last.Time, v.Now)
	if s.Failures == 0 || s.Retry == nil {
		return backoff
	}
	retry := left(time.Duration(*s.Retry)*time.Second, s.Last.Time, v.Now)
	if s.Mixed {
		return max(backoff, retry)
	}
	return retry
}

// streak computes the number of pods that have failed since the last success, ignored or not. The ledger, and the
// annotations of pods created later, count deleted pods.
func (v *view) streak() streak {
	var seen, carried int64
	var recorded streak
	stored, last := v.ledger.Backoff, v.lastSuccess()
	if stored != nil && stored.Last.After(last) && stored.Last.Time.Before(v.Now.Add(v.settings.MaxBackoff)) {
		recorded = *stored
		recorded.At = slices.Clone(stored.At)
	} else {
		stored = nil
	}
	for _, p := range v.failedSince(last) {
		if !v.delays(p, last) {
			continue
		}
		seen++
		known := stored.has(p)
		if !known {
			recorded.Failures++
		}
		if p.CreationTimestamp.After(last) {
			carried = max(carried, 1+annotatedCount(p.Pod, ConsecutiveFailuresAnnotation))
		}
		if !known || !v.past(p) {
			recorded.add(p)
		}
	}
	recorded.Failures = max(seen, carried, recorded.Failures)
	if len(recorded.At) > v.settings.MaxReleasing {
		recorded.At = nil
	}
	return recorded
}

// lastSuccess returns the time of the last success, or zero if no pod has succeeded.
func (v *view) lastSuccess() time.Time {
	if len(v.bySuccess) == 0 {
		return time.Time{}
	}
	return v.bySuccess[len(v.bySuccess)-1].finish
}

// failedSince returns the failed pods that finished after a time.
func (v *view) failedSince(last time.Time) []*pod {
	first, _ := slices.BinarySearchFunc(v.byFailure, last, func(p *pod, last time.Time) int {
		if p.finish.After(last) {
			return 1
		}
		return -1
	})
	return v.byFailure[first:]
}

// delays reports whether a pod is one of the failures since the last success.
func (v *view) delays(p *pod, lastSuccess time.Time) bool {
	dismissed := !p.held && p.DeletionTimestamp != nil
	return p.failed && !dismissed && v.valid(p) && p.finish.After(lastSuccess)
}

// remembered reports whether the stored ledger contains the parts of a failure that the delay depends on.
func (v *view) remembered(p *pod) bool {
	return v.perIndex || !v.delays(p, v.lastSuccess()) || v.ledger.Backoff.has(p)
}

// indexDelay returns the wait before a failed pod of an index is replaced.
func (v *view) indexDelay(donor *pod) time.Duration {
	if retry := donor.verdict.RetryDelay; retry != nil {
		return left(*retry, donor.finish, v.Now)
	}
	return v.settings.delay(precedingFailures(donor.Pod)+1, donor.finish, v.Now)
}

// precedingFailures returns the number of failures at the pod's index before it, ignored or not.
func precedingFailures(p *corev1.Pod) int64 {
	return annotatedCount(p, batchv1.JobIndexFailureCountAnnotation) + annotatedCount(p, batchv1.JobIndexIgnoredFailureCountAnnotation)
}

// annotatedCount returns the number in an annotation, or 0 if no controller could have written it.
func annotatedCount(p *corev1.Pod, annotation string) int64 {
	text, annotated := p.Annotations[annotation]
	if !annotated {
		return 0
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 0 || count > math.MaxInt32 {
		return 0
	}
	return int64(count)
}

// FinishTime returns the best estimate of a pod's finish time (getFinishedTime in pkg/controller/job/backoff_utils.go):
// the time its last container finished, else the time it became unready, was deleted, or was created. A pod ended by a
// rule has been unready before; it finished when it got its condition.
func FinishTime(p *corev1.Pod) time.Time {
	if t := containersFinish(p); !t.IsZero() {
		return t
	}
	if c := runtime.EndedBy(p); c != nil && p.DeletionTimestamp != nil && !c.LastTransitionTime.IsZero() {
		return c.LastTransitionTime.Time
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse && !c.LastTransitionTime.IsZero() {
			return c.LastTransitionTime.Time
		}
	}
	if p.DeletionTimestamp != nil {
		return p.DeletionTimestamp.Add(-time.Duration(ptr.Deref(p.DeletionGracePeriodSeconds, 0)) * time.Second)
	}
	return p.CreationTimestamp.Time
}

// containersFinish returns the time the last container finished, sidecars included, or zero if one has not finished. As
// upstream, if ordinary containers have not finished, the sidecars' finish time is used.
func containersFinish(p *corev1.Pod) time.Time {
	sidecars := map[string]bool{}
	for _, c := range p.Spec.InitContainers {
		sidecars[c.Name] = ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
	}
	last := lastFinish(time.Time{}, p.Status.ContainerStatuses, func(string) bool { return true })
	return lastFinish(last, p.Status.InitContainerStatuses, func(name string) bool { return sidecars[name] })
}

func lastFinish(last time.Time, statuses []corev1.ContainerStatus, concerns func(name string) bool) time.Time {
	for _, c := range statuses {
		if !concerns(c.Name) {
			continue
		}
		if c.State.Terminated == nil || c.State.Terminated.FinishedAt.IsZero() {
			return time.Time{}
		}
		if finish := c.State.Terminated.FinishedAt.Time; finish.After(last) {
			last = finish
		}
	}
	return last
}
