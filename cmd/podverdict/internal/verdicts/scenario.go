package verdicts

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/kube/scenarios"
	"github.com/podverdict/podverdict/internal/snapshot"
)

// scenarioAge is the age of scenario Pods when they are judged, because rules on living Pods compare ages in minutes or hours.
const scenarioAge = 24 * time.Hour

// AddScenarios adds Pods to the plans of a Job: one for each scenario that can happen to the Job, and one for each exit code that its
// rules name. It prints notes about the scenarios of p.
func (p *Plan) AddScenarios(c *cli.Console, plans ...*Plan) {
	for _, p := range plans {
		p.Pods = nil
	}
	p.noteScenarios(c)
	all := slices.Clone(scenarios.All)
	for _, exit := range exits(plans) {
		s := exit.Scenario(plans[0].Stored)
		lacks := func(p *Plan) bool { return exit.Scenario(p.Stored) == nil }
		known := func(other scenarios.Scenario) bool { return other.Name == s.Name }
		if !slices.ContainsFunc(plans, lacks) && !slices.ContainsFunc(all, known) {
			all = append(all, *s)
		}
	}
	happens := func(s scenarios.Scenario) bool {
		return slices.ContainsFunc(plans, func(p *Plan) bool { return p.canHappen(&s) && p.asksFor(&s) })
	}
	for _, s := range all {
		if happens(s) {
			for _, p := range plans {
				p.addScenario(&s)
			}
		}
	}
}

func (p *Plan) addScenario(s *scenarios.Scenario) {
	pod := s.Pod(p.Stored, p.gates())
	pod.Name = s.Name
	facts := snapshot.Pod{
		Object: pod, Node: s.Node(p.Stored), NodesRead: true, First: true, Now: pod.CreationTimestamp.Add(scenarioAge),
	}
	p.Pods = append(p.Pods, plannedPod{Pod: manifest.Pod{Object: pod}, facts: facts})
}

// maxExits limits the number of exit codes from rules that are tried, as a rule may list 255.
const maxExits = 24

// codeWord matches a number in an expression that may be an exit code.
var codeWord = regexp.MustCompile(`\b[1-9]\d{0,2}\b`)

// exits returns the exit codes that the Job's plans and custom policies name in their rules.
func exits(plans []*Plan) []scenarios.Exit {
	var all []scenarios.Exit
	add := func(exit scenarios.Exit) {
		if exit.Code > 0 && exit.Code < 256 && len(all) < maxExits && !slices.Contains(all, exit) {
			all = append(all, exit)
		}
	}
	for _, p := range plans {
		for _, rule := range ptr.Deref(p.Rules.Policy, batchv1.PodFailurePolicy{}).Rules {
			asked := ptr.Deref(rule.OnExitCodes, batchv1.PodFailurePolicyOnExitCodesRequirement{})
			for _, code := range asked.Values {
				add(scenarios.Exit{Container: ptr.Deref(asked.ContainerName, ""), Code: code})
			}
		}
		for _, exit := range restartExits(&p.Stored.Spec.Template.Spec) {
			add(exit)
		}
	}
	for _, p := range plans {
		for i := range p.Planner.Custom.All {
			for _, code := range codesIn(p.Planner.Custom.All[i].Compiled.Compiled) {
				add(scenarios.Exit{Code: code})
			}
		}
	}
	return all
}

// restartExits returns the exits that the containers' restart rules name.
func restartExits(spec *corev1.PodSpec) []scenarios.Exit {
	var all []scenarios.Exit
	for _, c := range slices.Concat(spec.Containers, spec.InitContainers) {
		for _, rule := range c.RestartPolicyRules {
			for _, code := range ptr.Deref(rule.ExitCodes, corev1.ContainerRestartRuleOnExitCodes{}).Values {
				all = append(all, scenarios.Exit{Container: c.Name, Code: code})
			}
		}
	}
	return all
}

// codesIn returns the numbers in a policy's expressions that may be exit codes.
func codesIn(policy *custom.Policy) []int32 {
	var codes []int32
	for _, expression := range policy.Expressions() {
		for _, text := range codeWord.FindAllString(expression.Text, -1) {
			code, _ := strconv.ParseInt(text, 10, 32) // codeWord has three digits at most
			codes = append(codes, int32(code))
		}
	}
	return codes
}

// canHappen reports whether a scenario can happen to the Job. A placeholder Job has whatever containers the scenario needs.
func (p *Plan) canHappen(s *scenarios.Scenario) bool {
	lacks := s.Lacks(p.Stored, p.gates())
	return lacks == "" || p.Stored.Name == standInName && (lacks != scenarios.Restarts || s.IsForRules())
}

// asksFor reports whether a scenario may matter to the Job's rules.
func (p *Plan) asksFor(s *scenarios.Scenario) bool {
	return !s.IsForRules() || p.Rules.Selection.HasRulesOn(s.Phase)
}

// ErrScenario returns an error for a scenario that no Job has a Pod of: the scenario does not exist, or it cannot happen to the Jobs.
func ErrScenario(name string, plans []*Plan) error {
	s := scenarios.Find(name)
	if s == nil {
		return fmt.Errorf("no Pods in the input, and %s", cli.UnknownName("scenario", name, scenarios.Names()))
	}
	var errs []error
	for i := range plans {
		errs = append(errs, fmt.Errorf("%s cannot happen to Job %s, whose Pods do not have %s",
			name, plans[i].Job.Reference(), s.Lacks(plans[i].Stored, plans[i].gates())))
	}
	return errors.Join(errs...)
}

// standInName is the name of the placeholder Job for any Job. It is not a valid object name, so no Job of an input has it.
const standInName = "(any)"

// StandIn returns a placeholder Job for an input that has policies but no Job. It has one container and is managed by podverdict's own
// controller, so policies take effect.
func StandIn() manifest.Job {
	job := scenarios.PlainJob()
	job.Name = standInName
	job.Spec.ManagedBy = new(v1alpha1.JobController)
	return manifest.Job{Object: job}
}

// BindAll returns bindings that apply the policies to all Jobs with every permission a binding can grant. Callers want to know what the
// policies do, not where they apply.
func BindAll(policies []manifest.Policy) []manifest.Binding {
	bindings := make([]manifest.Binding, len(policies))
	for i, policy := range policies {
		bindings[i] = policy.ToAll(v1alpha1.LivingPhases...)
	}
	return bindings
}

// noteScenarios prints notes about the scenarios that a Job was judged on.
func (p *Plan) noteScenarios(c *cli.Console) {
	switch {
	case p.Stored.Name == standInName:
		c.Note("note: no Job in the input: judged for a Job with one container, run by " + v1alpha1.JobController + ", with livingPods: [Pending, Running, Terminating]")
	case len(p.Stored.Spec.Template.Spec.Containers) == 0:
		c.Note(fmt.Sprintf("note: Job %s has no containers: judged as with one, main", p.Job.Reference()))
	}
	noteRestarts(c, p)
}
