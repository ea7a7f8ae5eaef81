package compiler

import (
	"fmt"
	"math/big"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/podverdict/podverdict/internal/kube/restart"
)

// Exit codes of a container that was told to stop: 128 + SIGKILL, 128 + SIGTERM.
const (
	codeKilled     = 137
	codeTerminated = 143
)

// Lint reports rules of a Job's podFailurePolicy that cannot work as written in a Kubernetes
// version, or that probably do not do what their author intended, and container restart rules that
// repeat without end. It accepts any policy and applies the API's defaults to it; NewPolicy reports
// what the API server would reject. Findings are in rule order.
func Lint(job *batchv1.Job, kubernetes *version.Version) []Finding {
	l := linter{job: &job.Spec, gates: restart.GatesOf(kubernetes)}
	if job.Spec.PodFailurePolicy != nil {
		policy := StoredPolicy(withDefaults(job.Spec.PodFailurePolicy))
		l.domain = newDomain(policy, &job.Spec.Template.Spec)
		for i, r := range policy.Rules {
			if _, never := r.Match.(Never); !never {
				l.rule(i, r)
			}
		}
	}
	l.unboundedRestart()
	return l.findings
}

// linter checks the rules in order and tracks the failures that earlier rules match.
type linter struct {
	job      *batchv1.JobSpec
	gates    restart.Gates
	domain   *domain
	earlier  []linted
	taken    big.Int
	findings []Finding
}

// linted is a rule with the failures that it matches, and the subset that it decides because no
// earlier rule matches them.
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
	l.fatalDisruption(this)
	l.sidecars(this)
	l.unboundedIgnore(this)
	l.failIndexLimit(this)
	l.unusualCodes(this)
	l.unusualConditions(this)
	l.restarted(this)
	l.earlier = append(l.earlier, this)
	l.taken.Or(&l.taken, this.matches)
}

func (l *linter) report(check string, severity Severity, r linted, field, message, hint string) {
	l.findings = append(l.findings, Finding{Check: check, Severity: severity, Rule: r.index, Field: field, Message: message, Hint: hint})
}

// reachability reports rules that can decide none or only some of their failures, because earlier
// rules match the others.
func (l *linter) reachability(this linted) {
	switch {
	case this.matches.Sign() == 0 && l.namesNoContainer(this):
		l.report(CheckUnreachable, Error, this, this.selector()+".containerName",
			"no pod can match: the pod template has no such container",
			"name a container or init container of spec.template, or leave containerName out")
		return
	case this.matches.Sign() == 0:
		l.report(CheckUnreachable, Error, this, this.selector()+".values",
			"no pod can match: no container of the pod template can fail with such an exit code", "list exit codes other than 0")
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
		l.report(CheckUnreachable, Error, this, this.path(),
			fmt.Sprintf("never decides: %s %s every failure that it could match", ruleNames(by), takes(by)), "move it before them, or remove it")
		return
	}
	for _, e := range by {
		if e.Action != this.Action {
			l.report(CheckShadowed, Warning, this, this.selector(),
				fmt.Sprintf("%s (%s) comes first for %s, so this rule's %s does not apply there",
					ruleNames([]linted{e}), e.Action, failures(l.domain, overlap(this.matches, e.decides)), this.Action),
				"order the rules from the narrowest to the widest, or take them out of one of the two")
		}
	}
}

func (l *linter) namesNoContainer(this linted) bool {
	m, ok := this.Match.(ExitCodes)
	return ok && m.Container != nil && !slices.Contains(l.domain.containers, *m.Container)
}

func overlap(a, b *big.Int) *big.Int { return new(big.Int).And(a, b) }

// disruptionOrder reports DisruptionTarget rules that come too late: a disrupted pod's containers
// are killed, so that an earlier exit-code rule matches the pod.
func (l *linter) disruptionOrder(this linted) {
	m, ok := this.Match.(PodConditions)
	if !ok || !slices.ContainsFunc(m.Patterns, isDisruption) {
		return
	}
	killed := l.domain.killed("")
	for _, e := range l.earlier {
		if e.Action != this.Action && overlap(e.decides, killed).Sign() > 0 {
			l.report(CheckDisruptionOrder, Warning, this, this.path(),
				fmt.Sprintf("a disrupted pod's containers exit with 137 or 143, which %s (%s) takes before this rule sees the condition",
					ruleNames([]linted{e}), e.Action), "put the DisruptionTarget rule first")
			return
		}
	}
}

// fatalDisruption reports rules that let a disruption fail the Job or the index.
func (l *linter) fatalDisruption(this linted) {
	m, ok := this.Match.(PodConditions)
	ends := map[batchv1.PodFailurePolicyAction]string{
		batchv1.PodFailurePolicyActionFailJob:   "the Job fails as soon as one of its Pods",
		batchv1.PodFailurePolicyActionFailIndex: "an index fails as soon as its Pod",
	}[this.Action]
	if ok && ends != "" && this.decides.Sign() > 0 && slices.ContainsFunc(m.Patterns, isDisruption) {
		l.report(CheckDisruptionFatal, Error, this, this.path()+".action", ends+" is drained, evicted or preempted",
			"use Ignore, or Count to keep the number of retries bounded")
	}
}

func isDisruption(p batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
	return p.Type == corev1.DisruptionTarget && p.Status == corev1.ConditionTrue
}

// sidecars reports NotIn rules without a container name in Jobs with sidecars. Sidecars are killed
// when the main containers finish, and their exit codes count.
func (l *linter) sidecars(this linted) {
	m, ok := this.Match.(ExitCodes)
	if !ok || m.Operator != NotIn || m.Container != nil {
		return
	}
	for _, c := range l.job.Template.Spec.InitContainers {
		always := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		if always && overlap(this.decides, l.domain.killed(c.Name)).Sign() > 0 {
			l.report(CheckSidecar, Warning, this, this.selector(),
				fmt.Sprintf("sidecar %s is stopped when the main containers end, and its exit code (137 or 143) fires this NotIn rule too", c.Name),
				"set containerName, or add 137 and 143 to values")
			return
		}
	}
}

// unboundedIgnore reports rules that let a pod fail in the same way forever. Disruptions are caused
// by the cluster and end eventually, so ignoring them is fine.
func (l *linter) unboundedIgnore(this linted) {
	if this.Action != batchv1.PodFailurePolicyActionIgnore || l.job.ActiveDeadlineSeconds != nil {
		return
	}
	if m, ok := this.Match.(PodConditions); ok && !slices.ContainsFunc(m.Patterns, isNotDisruption) {
		return
	}
	l.report(CheckUnboundedIgnore, Warning, this, this.path()+".action",
		"ignored failures are retried without limit, and the Job has no activeDeadlineSeconds",
		"set spec.activeDeadlineSeconds, or use Count with a backoffLimit that allows for them")
}

func isNotDisruption(p batchv1.PodFailurePolicyOnPodConditionsPattern) bool { return !isDisruption(p) }

func (l *linter) failIndexLimit(this linted) {
	if this.Action == batchv1.PodFailurePolicyActionFailIndex && l.job.BackoffLimitPerIndex == nil {
		l.report(CheckFailIndexLimit, Error, this, this.path()+".action",
			"FailIndex requires spec.backoffLimitPerIndex: the API server refuses the Job",
			"set spec.backoffLimitPerIndex, with completionMode Indexed")
	}
}
