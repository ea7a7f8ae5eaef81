package compiler

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Exit codes of a container that was told to stop: 128 + SIGKILL, 128 + SIGTERM.
const (
	codeKilled     = 137
	codeTerminated = 143
)

// Lint looks for rules of a Job's podFailurePolicy that cannot do what they say,
// or that are likely to do something else than their author meant. It takes any
// policy and applies the API's defaults to it; what the API server refuses is the
// business of NewPolicy. Findings come in the order of the rules.
func Lint(job *batchv1.Job) []Finding {
	if job.Spec.PodFailurePolicy == nil {
		return nil
	}
	policy := StoredPolicy(withDefaults(job.Spec.PodFailurePolicy))
	l := linter{job: &job.Spec, domain: newDomain(policy, &job.Spec.Template.Spec)}
	for i, r := range policy.Rules {
		if _, never := r.Match.(Never); !never {
			l.rule(i, r)
		}
	}
	return l.findings
}

// linter goes through the rules and keeps what the earlier ones take.
type linter struct {
	job      *batchv1.JobSpec
	domain   domain
	earlier  []linted
	findings []Finding
}

type linted struct {
	Rule

	index   int
	covered coverage
}

func (l *linter) rule(i int, r Rule) {
	this := linted{Rule: r, index: i, covered: l.domain.of(r.Match)}
	l.reachability(this)
	l.disruptionOrder(this)
	l.sidecars(this)
	l.unboundedIgnore(this)
	l.failIndexLimit(this)
	l.earlier = append(l.earlier, this)
}

func (l *linter) report(f Finding) { l.findings = append(l.findings, f) }

// reachability finds rules that earlier ones leave nothing, or not all that they
// ask for.
func (l *linter) reachability(this linted) {
	if len(this.covered) == 0 {
		l.report(findNoContainer(this))
		return
	}
	taken := coverage{}
	var by []linted
	for _, e := range l.earlier {
		if both := this.covered.overlap(e.covered); len(both) > 0 {
			taken.add(both)
			by = append(by, e)
		}
	}
	if len(taken) == len(this.covered) {
		l.report(findUnreachable(this, by))
		return
	}
	for _, e := range by {
		if e.Action != this.Action {
			l.report(findShadowed(this, e, l.domain))
		}
	}
}

// disruptionOrder finds DisruptionTarget rules that come too late: a disrupted
// pod's containers are killed, so that an exit-code rule before takes the pod.
func (l *linter) disruptionOrder(this linted) {
	m, ok := this.Match.(PodConditions)
	if !ok || !slices.ContainsFunc(m.Patterns, isDisruption) {
		return
	}
	for _, e := range l.earlier {
		exit, ok := e.Match.(ExitCodes)
		if ok && e.Action != this.Action && len(e.covered) > 0 && exit.takesKilled() {
			l.report(findDisruptionOrder(this, e))
			return
		}
	}
}

func isDisruption(p batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
	return p.Type == corev1.DisruptionTarget && p.Status == corev1.ConditionTrue
}

func (m ExitCodes) takesKilled() bool {
	return slices.Contains(m.Values, codeKilled) != m.Not || slices.Contains(m.Values, codeTerminated) != m.Not
}

// sidecars finds NotIn rules without a container name in Jobs with sidecars:
// those are killed when the main containers are done, and their exit code counts.
func (l *linter) sidecars(this linted) {
	m, ok := this.Match.(ExitCodes)
	if !ok || !m.Not || m.Container != nil || !m.takesKilled() {
		return
	}
	for _, c := range l.job.Template.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			l.report(findSidecar(this, c.Name))
			return
		}
	}
}

// unboundedIgnore finds rules that let a pod fail in the same way for ever. A
// disruption is the cluster's doing and ends, so ignoring those is fine.
func (l *linter) unboundedIgnore(this linted) {
	if this.Action != batchv1.PodFailurePolicyActionIgnore || l.job.ActiveDeadlineSeconds != nil {
		return
	}
	if m, ok := this.Match.(PodConditions); ok && !slices.ContainsFunc(m.Patterns, isNotDisruption) {
		return
	}
	l.report(findUnboundedIgnore(this))
}

func isNotDisruption(p batchv1.PodFailurePolicyOnPodConditionsPattern) bool { return !isDisruption(p) }

func (l *linter) failIndexLimit(this linted) {
	if this.Action == batchv1.PodFailurePolicyActionFailIndex && l.job.BackoffLimitPerIndex == nil {
		l.report(findFailIndexLimit(this))
	}
}
