package compiler

import (
	"math/big"
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

// linter goes through the rules and keeps what the earlier ones took.
type linter struct {
	job      *batchv1.JobSpec
	domain   *domain
	earlier  []linted
	taken    big.Int
	findings []Finding
}

// linted is a rule with the failures that it matches, and those of them that it
// decides because no earlier rule matches.
type linted struct {
	Rule

	index            int
	matches, decides *big.Int
}

func (l *linter) rule(i int, r Rule) {
	this := linted{Rule: r, index: i, matches: l.domain.of(r.Match)}
	this.decides = new(big.Int).AndNot(this.matches, &l.taken)
	l.reachability(this)
	l.disruptionOrder(this)
	l.sidecars(this)
	l.unboundedIgnore(this)
	l.failIndexLimit(this)
	l.earlier = append(l.earlier, this)
	l.taken.Or(&l.taken, this.matches)
}

func (l *linter) report(f Finding) { l.findings = append(l.findings, f) }

// reachability finds rules that earlier ones leave nothing, or not all that they
// ask for.
func (l *linter) reachability(this linted) {
	switch {
	case this.matches.Sign() == 0 && l.namesNoContainer(this):
		l.report(findNoContainer(this))
		return
	case this.matches.Sign() == 0:
		l.report(findNoExitCode(this))
		return
	case this.matches.Cmp(this.decides) == 0:
		return
	}
	var by []linted
	for _, e := range l.earlier {
		if overlap(this.matches, e.decides).Sign() > 0 {
			by = append(by, e)
		}
	}
	if this.decides.Sign() == 0 {
		l.report(findUnreachable(this, by))
		return
	}
	for _, e := range by {
		if e.Action != this.Action {
			l.report(findShadowed(this, e, l.domain))
		}
	}
}

func (l *linter) namesNoContainer(this linted) bool {
	m, ok := this.Match.(ExitCodes)
	return ok && m.Container != nil && !slices.Contains(l.domain.containers, *m.Container)
}

func overlap(a, b *big.Int) *big.Int { return new(big.Int).And(a, b) }

// disruptionOrder finds DisruptionTarget rules that come too late: a disrupted
// pod's containers are killed, so that an exit-code rule before takes the pod.
func (l *linter) disruptionOrder(this linted) {
	m, ok := this.Match.(PodConditions)
	if !ok || !slices.ContainsFunc(m.Patterns, isDisruption) {
		return
	}
	killed := l.domain.killed("")
	for _, e := range l.earlier {
		if e.Action != this.Action && overlap(e.decides, killed).Sign() > 0 {
			l.report(findDisruptionOrder(this, e))
			return
		}
	}
}

func isDisruption(p batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
	return p.Type == corev1.DisruptionTarget && p.Status == corev1.ConditionTrue
}

// sidecars finds NotIn rules without a container name in Jobs with sidecars:
// those are killed when the main containers are done, and their exit code counts.
func (l *linter) sidecars(this linted) {
	m, ok := this.Match.(ExitCodes)
	if !ok || !m.Not || m.Container != nil {
		return
	}
	for _, c := range l.job.Template.Spec.InitContainers {
		always := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		if always && overlap(this.decides, l.domain.killed(c.Name)).Sign() > 0 {
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
