package verdicts

import (
	"context"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/rulebook"
	controllerplan "github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/kube/restart"
	"github.com/podverdict/podverdict/internal/snapshot"
)

// Plan is a Job of the input with its Pods and rules.
type Plan struct {
	Planner *Planner
	Job     manifest.Job
	Stored  *batchv1.Job // the Job as the API server stores it and rules see it
	Rules   snapshot.Rules
	noRules string // why no rule decides; "" when there are rules
	Pods    []plannedPod
	Missing snapshot.Missing

	Snapshot *snapshot.Snapshot   // of the Pods; set once they are judged
	next     *controllerplan.Step // next step of the Job; nil if unknown
}

func (p *Plan) gates() restart.Gates { return restart.GatesOf(p.Planner.Kubernetes) }

// readsOthers reports whether the verdict on a Pod may depend on other Pods of the Job.
func (p *Plan) readsOthers() bool { return !p.Rules.Selection.Empty() }

// plannedPod is a Pod of a plan.
type plannedPod struct {
	manifest.Pod

	facts snapshot.Pod
}

// Planner makes plans with the compiled policies of an input.
type Planner struct {
	*rulebook.Rulebook

	warn func(string)
	// recorded reports whether to use the verdicts recorded in history lines, made by the policies in effect at that time.
	recorded bool
}

// NewPlanner compiles custom policies, and the Job of --policy, which may be nil.
func NewPlanner(c *cli.Console, kubernetes string, policies *effective.Source, replacement *manifest.Job) (*Planner, error) {
	book, err := rulebook.New(c, kubernetes, policies, replacement)
	if err != nil {
		return nil, err
	}
	return &Planner{Rulebook: book, warn: c.Warn, recorded: len(policies.Policies) == 0 && replacement == nil}, nil
}

// lookAtNodes sets the nodes of Pods whose phase rules may read them, and of deleted Pods that the node may hold up. It warns when rules
// read nodes and the nodes cannot be read.
func (p *Planner) lookAtNodes(ctx context.Context, planned *Plan) error {
	var pods []*plannedPod
	named, read := map[string]bool{}, false
	for i := range planned.Pods {
		pod := &planned.Pods[i]
		reads, hangs := planned.readsNodeOf(pod.Object), pod.Object.DeletionTimestamp != nil && pod.Object.Spec.NodeName != ""
		if read = read || reads; reads || hangs {
			pods = append(pods, pod)
			named[pod.Object.Spec.NodeName] = true
		}
	}
	if len(pods) == 0 {
		return nil
	}
	delete(named, "")
	nodes, unread, err := p.Custom.Nodes(ctx, slices.Sorted(maps.Keys(named)))
	if unread != "" && read {
		p.warn("nodes are not read, so node is absent for rules: " + unread)
	}
	for _, pod := range pods {
		pod.facts.Node, pod.facts.NodesRead = nodes[pod.Object.Spec.NodeName], unread == ""
	}
	return err
}

// readsNodeOf reports whether rules in effect may read the node of a Pod.
func (p *Plan) readsNodeOf(pod *corev1.Pod) bool {
	if !p.Rules.Selection.HasRulesOn(v1alpha1.PhaseOf(pod)) {
		return false
	}
	for policy := range p.Rules.Selection.All() {
		if len(policy.Compiled.Reads.Node) > 0 {
			return true
		}
	}
	return false
}

// Plan returns the plan of a Job, without Pods.
func (p *Planner) Plan(ctx context.Context, job manifest.Job) (*Plan, error) {
	stored := job.Stored()
	rules, err := p.For(ctx, stored)
	if err != nil {
		return nil, job.PolicyError(err)
	}
	planned := &Plan{Planner: p, Job: job, Stored: stored, Rules: rules}
	if rules.None() {
		planned.noRules = noOwnRules
		if len(p.Custom.All) > 0 {
			planned.noRules += ", and no custom policy takes effect"
		}
		if planned.bare() {
			planned.noRules = noDecider
		}
	}
	planned.Missing = snapshot.Missing{Order: planned.bare(), Decider: planned.noRules == noDecider}
	return planned, nil
}

// AddPods sets the Pods of the plan and reads their nodes. After an error, the Pods can still be judged.
func (p *Plan) AddPods(ctx context.Context, pods []manifest.Pod) error {
	p.setPods(pods)
	return p.Planner.lookAtNodes(ctx, p)
}

// setPods sets the Pods of the plan. Pods without a namespace get the Job's namespace, as in a cluster.
func (p *Plan) setPods(pods []manifest.Pod) {
	p.Pods = make([]plannedPod, len(pods))
	for i, pod := range pods {
		if pod.Object.Namespace == "" {
			pod.Object.Namespace = p.Stored.Namespace
		}
		p.Pods[i] = plannedPod{Pod: pod, facts: snapshot.Pod{Object: pod.Object}}
		if p.Planner.recorded {
			p.Pods[i].facts.Recorded = pod.Recorded
		}
	}
}

// snapshotAt returns the Snapshot of the Job and its Pods at a time.
func (p *Plan) snapshotAt(now time.Time) *snapshot.Snapshot {
	facts := make([]snapshot.Pod, len(p.Pods))
	for i := range p.Pods {
		facts[i] = p.Pods[i].facts
	}
	job := p.Stored
	if p.bare() {
		job = nil
	}
	return snapshot.New(job, p.Rules, now, p.Missing, facts...)
}
