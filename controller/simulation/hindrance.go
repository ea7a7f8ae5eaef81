package simulation

import (
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// hindrance is what a pod that does not start lacks, as long as it is pending.
type hindrance struct {
	waiting       string // the reason of the first container
	unschedulable bool
}

// hindrance holds what is said of it to what can be.
func (r *reader) hindrance(at *field.Path, given Rule, read rule) {
	if read.hindrance == (hindrance{}) {
		return
	}
	if given.Waiting != "" && given.Unschedulable {
		r.errors = append(r.errors, field.Forbidden(at, detailOneWait))
	}
	switch waits, err := parseSpan(given.Pending, 0); {
	case given.Pending == "":
		r.errors = append(r.errors, field.Required(at.Child("pending"), detailHowLong))
	case err == nil && waits.most == 0:
		r.invalid(at.Child("pending"), given.Pending, detailNoTime)
	}
	if given.Waiting == "" {
		return
	}
	if detail := r.waiting(given.Waiting, read.outcome); detail != "" {
		r.invalid(at.Child("waiting"), given.Waiting, detail)
	}
}

// reasonPattern is how Kubernetes writes reasons.
var reasonPattern = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

// waiting says what is wrong with a reason, if anything is. What reasons there are is up to the kubelet and the container
// runtime.
func (r *reader) waiting(reason string, does outcome) (wrong string) {
	spec := &r.job.Spec.Template.Spec
	switch initializes := len(spec.InitContainers) > 0; {
	case !reasonPattern.MatchString(reason):
		return detailReason
	case reason == reasonCrashed:
		return detailHasRun
	case reason == reasonCreating && initializes:
		return detailInitializing
	case reason == reasonInitializing && !initializes:
		return detailCreating
	case reason != reasonInitializing && does.failsToStart(spec) != "":
		return detailInitialized
	}
	return ""
}
