package plan

import (
	"cmp"
	"math"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

// Annotations of managed Jobs: two fields of the Job controller proposal that Kubernetes never shipped. As proposed, they
// apply to Jobs whose pods have restartPolicy Never.
const (
	// BackoffSecondsAnnotation is the delay after the first failure in seconds, from 1 to 86400. It doubles with each
	// further failure up to the cap; a delay above the cap is not changed.
	BackoffSecondsAnnotation = "podverdict.io/backoff-seconds"
	// FailedPodsLimitAnnotation is the number of failed pods to keep, from 0; older ones are deleted once they are
	// counted. Without it all are kept, as in Kubernetes (the proposal's default is 1).
	FailedPodsLimitAnnotation = "podverdict.io/failed-pods-limit"
)

// Settings are parameters of the controller. Zero means the default.
type Settings struct {
	// Backoff is the delay after the first failure. The default is 10 seconds, as upstream.
	Backoff time.Duration
	// MaxBackoff is the longest delay. The default is 10 minutes, as upstream.
	MaxBackoff time.Duration
	// MaxHeld is the number of terminal pods of a running Job that may keep the tracking finalizer. It is doubled while
	// there are pods to create. The default is 5000.
	MaxHeld int
	// MaxReleasing is the number of UIDs that the ledger may list, separately for counted failures and for matches within
	// budgets. The default is 500, as for upstream's uncountedTerminatedPods.
	MaxReleasing int
	// MaxCreate is the maximum number of pods that a Plan creates. The default is 500, as upstream's
	// MaxPodCreateDeletePerSync.
	MaxCreate int
}

func (s Settings) withDefaults() Settings {
	s.Backoff = cmp.Or(s.Backoff, 10*time.Second)
	s.MaxBackoff = cmp.Or(s.MaxBackoff, 10*time.Minute)
	s.MaxHeld = cmp.Or(s.MaxHeld, 5000)
	s.MaxReleasing = cmp.Or(s.MaxReleasing, 500)
	s.MaxCreate = cmp.Or(s.MaxCreate, 500)
	return s
}

// noFailedPodsLimit keeps all failed pods.
const noFailedPodsLimit = -1

// CheckAnnotations returns the errors in a managed Job's tuning annotations.
func CheckAnnotations(job *batchv1.Job) []error {
	var problems []error
	for _, t := range []tuning{backoffSeconds, failedPodsLimit} {
		if _, _, err := t.read(job); err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}

// tuning is an annotation with a number.
type tuning struct {
	name        string
	least, most int
}

var (
	backoffSeconds  = tuning{BackoffSecondsAnnotation, 1, 24 * 60 * 60}
	failedPodsLimit = tuning{FailedPodsLimitAnnotation, 0, math.MaxInt32}
)

// read returns the annotation's number. given is false if the annotation is missing or invalid.
func (t tuning) read(job *batchv1.Job) (number int, given bool, err error) {
	text, given := job.Annotations[t.name]
	if !given {
		return 0, false, nil
	}
	number, err = strconv.Atoi(text)
	if err != nil || number < t.least || number > t.most {
		return 0, false, errAnnotation(text, t)
	}
	return number, true, nil
}

// tune applies the Job's annotations to the settings.
func (v *view) tune() {
	v.failedPodsLimit = noFailedPodsLimit
	if v.onFailure() {
		return
	}
	v.problems = CheckAnnotations(v.Job)
	if seconds, given, _ := backoffSeconds.read(v.Job); given {
		v.settings.Backoff = time.Duration(seconds) * time.Second
		v.settings.MaxBackoff = max(v.settings.MaxBackoff, v.settings.Backoff)
	}
	if limit, given, _ := failedPodsLimit.read(v.Job); given {
		v.failedPodsLimit = limit
	}
}
