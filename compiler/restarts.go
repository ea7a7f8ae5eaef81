package compiler

import (
	"fmt"
	"math"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/internal/kube/kubeversion"
	"github.com/podverdict/podverdict/internal/kube/restart"
)

// restarted reports exit codes of a rule on which every container that the rule covers restarts, so that no Pod fails with
// them. Only an In rule lists the codes that it matches. Other rules are reported only if all their codes restart.
func (l *linter) restarted(this linted) {
	m, ok := this.Match.(ExitCodes)
	if !ok || this.decides.Sign() == 0 {
		return
	}
	containers := l.containers(m)
	var found restarts
	for _, code := range l.asked(this, m, containers) {
		if !found.add(containers, &l.job.Template.Spec, code, l.gates) && m.Operator != In {
			return
		}
	}
	if len(found.codes) > 0 {
		field := this.selector() + ".values"
		if m.Operator == In {
			field = fmt.Sprintf("%s[%d]", field, slices.Index(m.Values, found.codes[0]))
		}
		l.report(CheckRestartedCode, Warning, this, field, found.message(this.Action, m), found.hint(m))
	}
}

// containers returns the containers and init containers that a rule covers.
func (l *linter) containers(m ExitCodes) []corev1.Container {
	all := slices.Concat(l.job.Template.Spec.InitContainers, l.job.Template.Spec.Containers)
	return slices.DeleteFunc(all, func(c corev1.Container) bool { return m.Container != nil && *m.Container != c.Name })
}

// asked returns the exit codes to check for a rule: for an In rule the codes that it decides, and otherwise also the codes of
// restart rules and one code that no rule lists. It omits the exit codes of SIGTERM and SIGKILL, because containers do not
// restart in a Pod that is terminated from outside.
func (l *linter) asked(this linted, m ExitCodes, containers []corev1.Container) []int32 {
	codes, _ := l.domain.in(this.decides)
	if m.Operator != In {
		for _, c := range containers {
			for _, r := range c.RestartPolicyRules {
				codes = append(codes, ptr.Deref(r.ExitCodes, corev1.ContainerRestartRuleOnExitCodes{}).Values...)
			}
		}
		other := l.domain.other
		for slices.Contains(codes, other) || m.Lists(other) {
			other++
		}
		codes = append(codes, other)
	}
	return slices.DeleteFunc(codes, func(code int32) bool {
		return code == 0 || code == codeKilled || code == codeTerminated || !m.takes(code)
	})
}

// restarts collects exit codes on which containers restart in place.
type restarts struct {
	codes            []int32
	containers, whys []string
	since            *version.Version
}

// add adds an exit code if all containers restart on it. Sidecars do not count, because they end when a Pod fails.
func (r *restarts) add(containers []corev1.Container, pod *corev1.PodSpec, code int32, gates restart.Gates) bool {
	decisions := make([]restart.Decision, len(containers))
	for i := range containers {
		decisions[i] = restart.Decide(&containers[i], pod, code, gates)
		if by := decisions[i].By; decisions[i].Action == restart.None || by == restart.ByPod || by == restart.BySidecar {
			return false
		}
	}
	r.codes = append(r.codes, code)
	for i, d := range decisions {
		name := containers[i].Name
		r.containers, r.whys = appendNew(r.containers, name), appendNew(r.whys, d.Why(name))
		if r.since == nil || d.Since().GreaterThan(r.since) {
			r.since = d.Since()
		}
	}
	return true
}

func appendNew(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

func (r *restarts) message(action batchv1.PodFailurePolicyAction, m ExitCodes) string {
	verb, on := "restart", "every exit code that this rule matches"
	if len(r.containers) == 1 {
		verb = "restarts"
	}
	if m.Operator == In {
		on = codeList(r.codes)
	}
	missing := "there is nothing to " + strings.ToLower(string(action))
	switch action {
	case batchv1.PodFailurePolicyActionFailJob:
		missing = "the Job does not fail"
	case batchv1.PodFailurePolicyActionFailIndex:
		missing = "the index does not fail"
	default:
	}
	return fmt.Sprintf("%s %s in place on %s, %s (Kubernetes %s and later), so %s",
		listed(r.containers), verb, on, listed(r.whys), r.since, missing)
}

func (r *restarts) hint(m ExitCodes) string {
	if m.Operator != In {
		return "remove this rule, or do not restart on every failure"
	}
	return "let either the restart or this rule take " + codeList(r.codes)
}

// unboundedRestart reports containers that can restart all containers of the Pod without limit.
func (l *linter) unboundedRestart() {
	pod := &l.job.Template.Spec
	if !l.gates.AllContainers || l.job.ActiveDeadlineSeconds != nil || pod.ActiveDeadlineSeconds != nil ||
		ptr.Deref(l.job.BackoffLimit, 0) == math.MaxInt32 { // MaxInt32 means that no limit is wanted
		return
	}
	for i, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		rule := slices.IndexFunc(c.RestartPolicyRules, restartsAll)
		if rule < 0 {
			continue
		}
		list, index := "initContainers", i
		if i >= len(pod.InitContainers) {
			list, index = "containers", i-len(pod.InitContainers)
		}
		l.findings = append(l.findings, Finding{
			Check: CheckUnboundedRestart, Severity: Warning, Rule: NoRule,
			Field: fmt.Sprintf("spec.template.spec.%s[%d].restartPolicyRules[%d].action", list, index, rule),
			Message: fmt.Sprintf("RestartAllContainers starts the containers again at once, and backoffLimit does not count that "+
				"(Kubernetes %s and later): a failure that stays repeats without end", kubeversion.RestartAllContainers),
			Hint: "set spec.activeDeadlineSeconds",
		})
		return
	}
}

func restartsAll(r corev1.ContainerRestartRule) bool {
	return r.Action == corev1.ContainerRestartRuleActionRestartAllContainers
}
