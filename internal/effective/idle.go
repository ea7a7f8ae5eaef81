package effective

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Idle is a policy in effect whose rules on failed Pods have no effect, or less than expected, for some Jobs.
type Idle struct {
	Policy, Because, Hint string

	jobs []string
}

// String returns a sentence that names a few of the Jobs.
func (i *Idle) String() string {
	return fmt.Sprintf("the policy is in force for %s: %s", Named(i.jobs), i.Because)
}

// Named lists a few of the Jobs by name, and the number of the others.
func Named(jobs []string) string {
	const few = 3
	named := strings.Join(jobs[:min(few, len(jobs))], ", ")
	if more := len(jobs) - few; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	word := "Job"
	if len(jobs) > 1 {
		word = "Jobs"
	}
	return word + " " + named
}

// Idle returns the policies that have no or less effect for some of the Jobs, one entry per policy and reason. Bindings in mode Audit are
// not reported, because they are meant to have no effect.
func (p *Policies) Idle(ctx context.Context, jobs []manifest.Job) []*Idle {
	var all []*Idle
	for _, job := range jobs {
		stored := job.Stored()
		selection, _ := p.For(ctx, stored)
		for policy, bound := range selection.All() {
			if found := idle(stored, policy, bound); found != nil {
				all = found.in(job, all)
			}
		}
	}
	return all
}

// idle returns the reason why a policy in effect for a Job does less than it seems to, or nil.
func idle(job *batchv1.Job, policy *runtime.Policy, bound *v1alpha1.PodFailurePolicyBinding) *Idle {
	manager := binding.Manager(job)
	switch {
	case bound.Spec.Mode == v1alpha1.ModeAudit || !binding.OnFailed(policy):
		return nil
	case manager != v1alpha1.JobController:
		what := "verdicts"
		if slices.ContainsFunc(policy.Rules, func(r v1alpha1.Rule) bool { return r.Retry != nil }) {
			what = "verdicts and retries"
		}
		return &Idle{
			Policy: policy.Name, Because: "nobody carries out its " + what + " where " + manager + " runs the Job",
			Hint: "set spec.managedBy: " + v1alpha1.JobController + " in the Job, or bind the policy with mode: Audit",
		}
	case job.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure:
		return &Idle{
			Policy: policy.Name, Because: "with restartPolicy OnFailure, containers that fail are restarted, and rules on failed Pods are not asked",
			Hint: "set restartPolicy: Never in the Job's template",
		}
	}
	return nil
}

// in adds a Job to the entry with the same policy and reason, or to a new entry.
func (i *Idle) in(job manifest.Job, all []*Idle) []*Idle {
	at := slices.IndexFunc(all, func(known *Idle) bool { return known.Policy == i.Policy && known.Because == i.Because })
	if at < 0 {
		at, all = len(all), append(all, i)
	}
	all[at].jobs = append(all[at].jobs, job.Reference().String())
	return all
}
