package check

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/didyoumean"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/kube/restart"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// use is a Job that a policy is in force for, and the binding.
type use struct {
	job     *batchv1.Job
	binding *v1alpha1.PodFailurePolicyBinding
}

// reported finds rules on living Pods that only report them: all bindings enforce the policy, but none has the phase in livingPods.
func (c *customPolicies) reported(p *v1alpha1.PodFailurePolicy) {
	var names []string
	var bound []corev1.PodPhase
	for _, b := range c.set.Bindings {
		if b.Object.Spec.PolicyName != p.Name {
			continue
		}
		if b.Object.Spec.Mode == v1alpha1.ModeAudit {
			return // audit bindings are meant to report only
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

// used finds rules on living Pods whose condition a Job's podFailurePolicy does not name, and rules that wait for restarts in Jobs
// without restarts.
func (c *customPolicies) used(p *runtime.Policy) {
	uses := c.uses[p.Name]
	steady := len(uses) > 0 && !slices.ContainsFunc(uses, func(u use) bool { return restart.Possible(&u.job.Spec.Template.Spec) })
	for i := range p.Rules {
		r := &p.Rules[i]
		if unread := named(uses, func(u use) bool { return u.unread(r) }); len(unread) > 0 {
			c.ruleFinding(p.Name, checkConditionUnread, i, r.Name, "phase",
				fmt.Sprintf("the podFailurePolicy of %s names no condition %s, so that %s of rule %s is not carried out there",
					effective.Named(unread), r.ConditionType(), r.Action, r.Name),
				fmt.Sprintf("put a rule with onPodConditions: [{type: %s}] into the Job", r.ConditionType()))
		}
		if when := p.Compiled.Rules[i].When; r.Phase == corev1.PodRunning && steady && when.NeedsRestarts() {
			c.ruleFinding(p.Name, checkNeverRestarts, i, r.Name, "when",
				fmt.Sprintf("rule %s waits for restarts, and no container of %s restarts in place",
					r.Name, effective.Named(named(uses, func(use) bool { return true }))),
				"set restartPolicy: OnFailure in the Job's template, or restartPolicy and restartPolicyRules in a container")
		}
	}
}

// named returns the names of the Jobs that match a predicate.
func named(uses []use, some func(use) bool) (names []string) {
	for _, u := range uses {
		if some(u) {
			names = append(names, u.job.Namespace+"/"+u.job.Name)
		}
	}
	return names
}

// unread reports whether a rule ends Pods of the Job, and the Job's own podFailurePolicy has no rule on the resulting condition.
func (u use) unread(r *v1alpha1.Rule) bool {
	own := u.job.Spec.PodFailurePolicy
	return own != nil && binding.Manager(u.job) != v1alpha1.JobController && u.binding.Spec.Mode != v1alpha1.ModeAudit &&
		u.binding.Spec.Ends(r.Phase) && effective.RuleOn(own, r.ConditionType()) < 0
}

// neverSet returns findings about podverdict conditions that a Job names but no policy of the input sets. Without policies in the input
// it returns none, because they may be elsewhere.
func (c *customPolicies) neverSet(job manifest.Job) (found []findings.Finding) {
	if job.Object.Spec.PodFailurePolicy == nil || len(c.policies) == 0 {
		return nil
	}
	var set []string
	for _, p := range c.inForce.All {
		for i := range p.Object.Spec.Rules {
			if r := &p.Object.Spec.Rules[i]; v1alpha1.Lives(r.Phase) && !slices.Contains(set, string(r.ConditionType())) {
				set = append(set, string(r.ConditionType()))
			}
		}
	}
	for i, rule := range job.Object.Spec.PodFailurePolicy.Rules {
		for j, pattern := range rule.OnPodConditions {
			condition := string(pattern.Type)
			if !strings.HasPrefix(condition, v1alpha1.GroupVersion.Group+"/") || slices.Contains(set, condition) {
				continue
			}
			f := newFinding(job.Origin, checkConditionNeverSet, compiler.Warning,
				fmt.Sprintf("%s.rules[%d].onPodConditions[%d].type", manifest.PolicyField, i, j),
				"no rule of a PodFailurePolicy in the input sets the condition "+condition, didyoumean.Names(condition, set, ""))
			f.Rule = &i
			found = append(found, f)
		}
	}
	return found
}
