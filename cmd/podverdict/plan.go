package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler"
	controllerplan "github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/judging"
	"github.com/podverdict/podverdict/internal/kube/restart"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// plan says what decides on the Pods of a Job.
type plan struct {
	job    manifest.Job
	stored *batchv1.Job // as the API server stores it, and rules see it
	pods   []plannedPod
	family *judging.Family // of these, once they are judged
	some   bool            // of the Job's Pods are unknown, on which the numbers of attempts depend

	selection binding.Selection
	effect    binding.Effect            // of these, and of the Job's own rules or those of --policy
	managed   *runtime.Program          // the rules that would act if podverdict ran the Job
	next      *controllerplan.Step      // of the Job; nil if that is not known
	rules     *batchv1.PodFailurePolicy // the Job's own, or those of --policy; nil if it has none
	noRules   string                    // why no rule decides; "" when there are rules

	kubernetes *utilversion.Version
	recorded   bool // as of the planner
}

func (p *plan) gates() restart.Gates { return restart.GatesOf(p.kubernetes) }

// plannedPod is a Pod of a plan.
type plannedPod struct {
	manifest.Pod

	in        runtime.Input // what rules see of it, once it is judged
	scenario  string        // built in; "" for a Pod of the input
	jobSet    *jobSetItem   // what the JobSet does when the Job fails
	usedUp    bool          // the budget of the rule that it matches, by Pods before it
	retry     *retryItem
	forgotten int // how many attempts before it are not known, if rules look at them
	// node is that of the Pod; nil if it is gone or not known. nodesRead is whether it would be known.
	node      *corev1.Node
	nodesRead bool
}

// planner makes plans with the compiled policies of an input.
type planner struct {
	environment *compiler.Environment
	programs    judging.Cache[*runtime.Program] // of the Jobs' own rules
	custom      *effective.Policies
	warn        func(string)
	own         *runtime.Program // of --policy, in place of the Jobs' own
	rules       *batchv1.PodFailurePolicy
	kubernetes  *utilversion.Version
	// recorded is whether verdicts in lines of history count: those of the policies that were in force then.
	recorded bool
}

// newPlanner compiles custom policies, and the Job of --policy, which may be nil.
func newPlanner(c *cli.Console, kubernetes string, policies *effective.Source, replacement *manifest.Job) (*planner, error) {
	environment, err := compiler.NewEnvironment(kubernetes)
	if err != nil {
		return nil, err
	}
	p := &planner{environment: environment, warn: c.Warn, kubernetes: utilversion.MustParseGeneric(environment.Kubernetes)}
	p.recorded = len(policies.Policies) == 0 && replacement == nil
	p.custom, err = effective.New(environment, policies)
	for _, warning := range p.custom.Warnings {
		c.Warn(warning)
	}
	for _, b := range policies.Missing() {
		c.Warn(b.Origin.Error("spec.policyName", effective.BindsNothing(b)).Error())
	}
	if err == nil && replacement != nil {
		p.own, err = replacement.Program(environment)
		p.rules = replacement.Object.Spec.PodFailurePolicy
	}
	return p, err
}

// ruling is the plans of the Jobs of an input by some rules: those before a change, or those after it.
type ruling struct {
	plans  []plan
	custom *effective.Policies
}

// newRuling plans Jobs with their Pods. The rules of own, which may be nil, stand in for those of the Jobs.
func newRuling(
	ctx context.Context, c *cli.Console, kubernetes string, policies *effective.Source, own *manifest.Job, families []manifest.Family,
) (ruling, error) {
	planner, err := newPlanner(c, kubernetes, policies, own)
	if err != nil {
		return ruling{}, err
	}
	plans, err := planner.planAll(ctx, families)
	return ruling{plans, planner.custom}, err
}

// planAll returns the plans of all Jobs of an input. The error joins what is wrong with any of them.
func (p *planner) planAll(ctx context.Context, families []manifest.Family) ([]plan, error) {
	plans := make([]plan, len(families))
	errs := make([]error, len(families))
	for i, f := range families {
		if plans[i], errs[i] = p.plan(ctx, f.Job); errs[i] == nil {
			plans[i].take(f.Pods)
		}
	}
	return plans, errors.Join(errors.Join(errs...), p.lookAtNodes(ctx, plans))
}

// lookAtNodes gives Pods their nodes where rules on their phase may read them. It warns when nodes cannot be read.
func (p *planner) lookAtNodes(ctx context.Context, plans []plan) error {
	var pods []*plannedPod
	named := map[string]bool{}
	for _, planned := range plans {
		for i := range planned.pods {
			if pod := &planned.pods[i]; planned.readsNodeOf(pod.Object) {
				pods = append(pods, pod)
				named[pod.Object.Spec.NodeName] = true
			}
		}
	}
	if len(pods) == 0 {
		return nil
	}
	delete(named, "")
	nodes, unread, err := p.custom.Nodes(ctx, slices.Sorted(maps.Keys(named)))
	if unread != "" {
		p.warn("nodes are not read, so node is absent for rules: " + unread)
	}
	for _, pod := range pods {
		pod.node, pod.nodesRead = nodes[pod.Object.Spec.NodeName], unread == ""
	}
	return err
}

// readsNodeOf reports whether rules in force may read the node of a Pod.
func (p *plan) readsNodeOf(pod *corev1.Pod) bool {
	if !p.selection.HasRulesOn(v1alpha1.PhaseOf(pod)) {
		return false
	}
	for policy := range p.selection.All() {
		if len(policy.Compiled.Reads.Node) > 0 {
			return true
		}
	}
	return false
}

// plan returns the plan of a Job, without Pods.
func (p *planner) plan(ctx context.Context, job manifest.Job) (plan, error) {
	own, rules := p.own, p.rules
	if own == nil {
		rules = job.Object.Spec.PodFailurePolicy
		compiled, err := p.programs.Of(rules, func() (*runtime.Program, error) { return job.Program(p.environment) })
		if err != nil {
			return plan{}, err
		}
		own = compiled
	}
	stored := job.Stored()
	selected := p.inForce(ctx, stored)
	planned := plan{
		job: job, stored: stored, selection: selected, effect: selected.EffectIn(stored, own), rules: rules, kubernetes: p.kubernetes,
		managed: selected.Effect(own, true, v1alpha1.JobController).Acting, recorded: p.recorded,
	}
	if rules == nil && planned.effect.Acting == own {
		planned.noRules = noOwnRules
		if len(p.custom.All) > 0 {
			planned.noRules += ", and no custom policy takes effect"
		}
		if planned.bare() {
			planned.noRules = noDecider
		}
	}
	return planned, nil
}

// inForce returns the policies in force for a Job. It warns when labels or match conditions could not be found out.
func (p *planner) inForce(ctx context.Context, job *batchv1.Job) binding.Selection {
	selected, err := p.custom.For(ctx, job)
	if err != nil {
		p.warn(fmt.Sprintf("%v: it is taken to have none but %s", err, corev1.LabelMetadataName))
	}
	for _, problem := range selected.Problems {
		p.warn(fmt.Sprintf("not in force for Job %s/%s: %v", job.Namespace, cmp.Or(job.Name, job.GenerateName), problem))
	}
	return selected
}

// take adds the Pods of the Job. Pods that say no namespace get that of the Job, as in a cluster.
func (p *plan) take(pods []manifest.Pod) {
	p.pods = make([]plannedPod, len(pods))
	p.some = p.some || p.bare() // which Pods are attempts of one another is not known
	for i, pod := range pods {
		if pod.Object.Namespace == "" {
			pod.Object.Namespace = p.stored.Namespace
		}
		if !p.recorded {
			pod.Recorded = nil
		}
		p.pods[i].Pod = pod
	}
}
