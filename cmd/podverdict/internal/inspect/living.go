package inspect

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/inforce"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/hint"
	"github.com/podverdict/podverdict/internal/restart"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// livingUse is what the Jobs of an input make of a rule on Pods that live.
type livingUse struct {
	jobs     []string // that the rule is in force for
	unread   []string // those that do not name its condition
	restarts bool     // containers of some restart
}

// reported finds rules on Pods that live, of policies whose bindings are enforced and only report such Pods.
func (c *customPolicies) reported(p *v1alpha1.PodFailurePolicy) {
	var names []string
	var bound []corev1.PodPhase
	for _, b := range c.set.Bindings {
		if b.Object.Spec.PolicyName != p.Name {
			continue
		}
		if b.Object.Spec.Mode == v1alpha1.ModeAudit {
			return // it is there to report
		}
		names = append(names, b.Object.Name)
		bound = append(bound, b.Object.Spec.LivingPods...)
	}
	for i, r := range p.Spec.Rules {
		if v1alpha1.Lives(r.Phase) && len(names) > 0 && !slices.Contains(bound, r.Phase) {
			c.ruleFinding(p.Name, checkLivingIgnored, i, r.Name, "phase",
				fmt.Sprintf("rule %s is on %s, and no binding of the policy ends such Pods (%s): they are only reported", r.Name, r.Phase, strings.Join(names, ", ")),
				fmt.Sprintf("add %s to livingPods of a binding, or set mode: Audit", r.Phase))
		}
	}
}

// conditionsOf returns the types of the conditions that rules of a policy set.
func conditionsOf(p *v1alpha1.PodFailurePolicy) (all []string) {
	for i := range p.Spec.Rules {
		if condition := string(p.Spec.Rules[i].ConditionType()); condition != "" && !slices.Contains(all, condition) {
			all = append(all, condition)
		}
	}
	return all
}

// use notes what a Job makes of the rules of a policy on Pods that live.
func (c *customPolicies) use(p *runtime.Policy, b *v1alpha1.PodFailurePolicyBinding, job *batchv1.Job) {
	own := job.Spec.PodFailurePolicy
	judges := own != nil && binding.Manager(job) != v1alpha1.JobController && b.Spec.Mode != v1alpha1.ModeAudit
	for i := range p.Rules {
		r := &p.Rules[i]
		if !v1alpha1.Lives(r.Phase) {
			continue
		}
		key := fmt.Sprintf("%s/%s", p.Name, r.Name)
		if c.uses[key] == nil {
			c.uses[key] = &livingUse{}
		}
		u, name := c.uses[key], job.Namespace+"/"+job.Name
		u.jobs = append(u.jobs, name)
		u.restarts = u.restarts || restarts(&job.Spec.Template.Spec, c.gates)
		if judges && b.Spec.Ends(r.Phase) && inforce.RuleOn(own, r.ConditionType()) < 0 {
			u.unread = append(u.unread, name)
		}
	}
}

// used reports rules whose condition Jobs do not name, and those that wait for restarts in Jobs where nothing restarts.
func (c *customPolicies) used(p *runtime.Policy) {
	for i := range p.Rules {
		r := &p.Rules[i]
		u := c.uses[fmt.Sprintf("%s/%s", p.Name, r.Name)]
		if u == nil {
			continue
		}
		if len(u.unread) > 0 {
			c.ruleFinding(p.Name, checkConditionUnread, i, r.Name, "phase",
				fmt.Sprintf("the podFailurePolicy of %s names no condition %s, so that %s of rule %s is not carried out there",
					inforce.Named(u.unread), r.ConditionType(), r.Action, r.Name),
				fmt.Sprintf("put a rule with onPodConditions: [{type: %s}] into the Job", r.ConditionType()))
		}
		if when := p.Compiled.Rules[i].When; r.Phase == corev1.PodRunning && !u.restarts && when.NeedsRestarts() {
			c.ruleFinding(p.Name, checkNeverRestarts, i, r.Name, "when",
				fmt.Sprintf("rule %s waits for restarts, and no container of %s restarts in place", r.Name, inforce.Named(u.jobs)),
				"set restartPolicy: OnFailure in the Job's template, or restartPolicy and restartPolicyRules in a container")
		}
	}
}

// restarts reports whether a container of a Pod starts again after some exit.
func restarts(spec *corev1.PodSpec, gates restart.Gates) bool {
	return slices.ContainsFunc(slices.Concat(spec.InitContainers, spec.Containers), func(container corev1.Container) bool {
		for code := range int32(compiler.MaxExitCode + 1) {
			if restart.Decide(&container, spec, code, gates).Action != restart.None {
				return true
			}
		}
		return false
	})
}

// neverSet returns findings about conditions of podverdict that a Job names, and no policy of the input sets. Without policies
// it returns none: they may be elsewhere.
func (c *customPolicies) neverSet(job manifest.Job) (found []report.Finding) {
	if job.Object.Spec.PodFailurePolicy == nil || len(c.policies) == 0 {
		return nil
	}
	for i, rule := range job.Object.Spec.PodFailurePolicy.Rules {
		for j, pattern := range rule.OnPodConditions {
			if !strings.HasPrefix(string(pattern.Type), v1alpha1.GroupVersion.Group+"/") || slices.Contains(c.conditions, string(pattern.Type)) {
				continue
			}
			f := newFinding(job.Origin, checkConditionNeverSet, compiler.Warning,
				fmt.Sprintf("%s.rules[%d].onPodConditions[%d].type", manifest.PolicyField, i, j),
				fmt.Sprintf("no rule of a PodFailurePolicy in the input sets the condition %s", pattern.Type),
				hint.Names(string(pattern.Type), c.conditions, ""))
			f.Rule = &i
			found = append(found, f)
		}
	}
	return found
}
