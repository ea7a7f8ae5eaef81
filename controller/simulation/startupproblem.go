package simulation

import (
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
)

// startupProblem is the reason why a pod stays pending.
type startupProblem struct {
	waiting       string // the reason of the first container
	unschedulable bool
}

// checkStartupProblem rejects a script entry whose reason a kubelet would never report.
func (r *reader) checkStartupProblem(at *field.Path, given Rule, read rule) {
	if read.startupProblem == (startupProblem{}) {
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

// reasonPattern matches reasons as Kubernetes writes them.
var reasonPattern = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

// waiting returns the error in a reason, or the empty string. Kubelet and container runtimes may add reasons of their
// own, so any well-formed reason is accepted unless it contradicts the pod.
func (r *reader) waiting(reason string, does outcome) (wrong string) {
	spec := &r.job.Spec.Template.Spec
	switch initializes := len(spec.InitContainers) > 0; {
	case !reasonPattern.MatchString(reason):
		return detailReason
	case reason == podstatus.ReasonBackOff:
		return detailHasRun
	case reason == podstatus.ReasonCreating && initializes:
		return detailInitializing
	case reason == podstatus.ReasonInitializing && !initializes:
		return detailCreating
	case reason != podstatus.ReasonInitializing && does.failsToStart(spec) != "":
		return detailInitialized
	}
	return ""
}

// blockStart keeps a new pod from starting if its rule requires that.
func (s *simulator) blockStart(l *life) {
	switch {
	case l.does.startupProblem.unschedulable:
		s.reject(l, map[string]int{podstatus.InsufficientCPU: len(s.nodes)})
	case l.does.startupProblem.waiting != "":
		node, found := s.place(l)
		if !found {
			return
		}
		l.stage = waiting
		s.report(l, func(p *corev1.Pod) {
			p.Spec.NodeName = node
			wait(p, l.does.startupProblem.waiting, *s.time())
		})
	}
}

// anyRuns reports whether a container is running.
func anyRuns(p *corev1.Pod) bool {
	runs := func(c corev1.ContainerStatus) bool { return c.State.Running != nil }
	return slices.ContainsFunc(p.Status.InitContainerStatuses, runs) || slices.ContainsFunc(p.Status.ContainerStatuses, runs)
}
