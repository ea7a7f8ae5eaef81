package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/inforce"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/compiler"
	controllerplan "github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// judging is a source of Jobs and Pods to judge, and by which policies.
type judging struct {
	source

	policyFile string
	now        moment
}

func (j *judging) addFlags(cmd *cobra.Command) {
	j.source.addFlags(cmd, cluster.Job, cluster.CronJob, cluster.Pod)
	j.addVersionFlag(cmd)
	flags := cmd.Flags()
	flags.StringVar(&j.policyFile, "policy", "",
		"file, URL or - with a Job or CronJob whose podFailurePolicy decides in place of the Jobs' own, or with a PodFailurePolicy to add")
	flags.Var(&j.now, "now", "time at which Pods in phase Pending are judged, as 2026-11-22T06:00:00Z (default the time of the run)")
}

// plan is what decides on the Pods of a Job.
type plan struct {
	job       *batchv1.Job // as the API server stores it
	own       *runtime.Program
	program   *runtime.Program
	audited   *runtime.Program // as if all policies were enforced; nil when all of them are
	selection binding.Selection
	custom    *inforce.Policies
	policy    bool // there are rules: a podFailurePolicy, or custom policies that are enforced
}

// noRules says that there are none, if so.
func (p *plan) noRules() string {
	switch {
	case p.policy:
		return ""
	case len(p.custom.All) == 0:
		return "the Job has no podFailurePolicy"
	}
	return "the Job has no podFailurePolicy, and no custom policy is enforced for it"
}

// family is a Job with its plan and its Pods.
type family struct {
	manifest.Family
	plan

	attempts map[*corev1.Pod]int64 // nil where no custom policy is in force: other rules do not ask
}

// input is what the rules see of a Pod.
func (j *judging) inputOf(f *family, pod *corev1.Pod) runtime.Input {
	return runtime.Input{Pod: pod, Job: f.plan.job, Attempt: f.attempts[pod], Now: time.Time(j.now)}
}

// readFamilies reads Jobs with their Pods, and plans the programs.
func (j *judging) readFamilies(cmd *cobra.Command, args []string) ([]family, error) {
	j.now.begin()
	given, err := j.readPolicy(cmd)
	if err != nil {
		return nil, err
	}
	members, policies, err := j.readMembers(cmd, args)
	if err != nil {
		return nil, err
	}
	planned, err := j.newPlanner(cmd, given, policies)
	if err != nil {
		return nil, err
	}
	families := make([]family, len(members))
	var errs []error
	for i, m := range members {
		families[i].Family = m
		families[i].plan, err = planned.plan(cmd.Context(), m.Job)
		if !families[i].selection.Empty() {
			families[i].attempts = attempts(m)
		}
		errs = append(errs, err)
	}
	return families, errors.Join(errs...)
}

// attempts are the numbers of a Job's Pods at their indexes.
func attempts(f manifest.Family) map[*corev1.Pod]int64 {
	pods := make([]*corev1.Pod, len(f.Pods))
	for i := range f.Pods {
		pods[i] = f.Pods[i].Object
	}
	numbered := make(map[*corev1.Pod]int64, len(pods))
	for i, attempt := range controllerplan.Attempts(f.Job.Object, pods) {
		numbered[pods[i]] = attempt
	}
	return numbered
}

// planner plans the programs of Jobs.
type planner struct {
	environment *compiler.Environment
	namespace   string // of Jobs that name none
	custom      *inforce.Policies
	warn        func(string)
	own         *runtime.Program // by --policy, in place of the Jobs' own
	replaced    bool             // it has rules
}

// newPlanner compiles the custom policies of an input.
func newPlanner(cmd *cobra.Command, in *input, policies *inforce.Source) (*planner, error) {
	environment, err := compiler.NewEnvironment(in.kubernetes)
	if err != nil {
		return nil, err
	}
	warn := newWarner(cmd)
	compiled, err := newCustomPolicies(environment, policies, warn)
	return &planner{environment: environment, namespace: in.namespace, custom: compiled, warn: warn}, err
}

// newPlanner plans with what --policy gives, besides.
func (j *judging) newPlanner(cmd *cobra.Command, given given, policies *inforce.Source) (*planner, error) {
	if given.policy != nil {
		policies.Add(*given.policy)
	}
	p, err := newPlanner(cmd, &j.source.input, policies)
	if err == nil && given.job != nil {
		p.own, err = given.job.Program(p.environment)
		p.replaced = given.job.Object.Spec.PodFailurePolicy != nil
	}
	return p, err
}

// given is what --policy names: one of both, or nothing.
type given struct {
	job    *manifest.Job
	policy *manifest.Policy
}

// readPolicy reads the file of --policy.
func (j *judging) readPolicy(cmd *cobra.Command) (given, error) {
	if j.policyFile == "" {
		return given{}, nil
	}
	if j.policyFile == "-" && slices.Contains(j.Filenames, "-") {
		return given{}, errUsage(cmd, errStdinTwice("--policy"))
	}
	set, err := manifest.Read(cmd.Context(), manifest.Options{Filenames: []string{j.policyFile}, Stdin: cmd.InOrStdin()})
	switch {
	case err != nil:
		return given{}, err
	case len(set.Jobs) == 1 && len(set.Policies) == 0:
		return given{job: &set.Jobs[0]}, nil
	case len(set.Policies) == 1 && len(set.Jobs) == 0:
		return given{policy: &set.Policies[0]}, nil
	}
	return given{}, fmt.Errorf("--policy %s: there are %d Jobs and %d PodFailurePolicies in it, and should be one or the other",
		j.policyFile, len(set.Jobs), len(set.Policies))
}

func (p *planner) plan(ctx context.Context, job manifest.Job) (plan, error) {
	own, rules := p.own, p.replaced
	if own == nil {
		compiled, err := job.Program(p.environment)
		if err != nil {
			return plan{}, err
		}
		own, rules = compiled, job.Object.Spec.PodFailurePolicy != nil
	}
	stored := job.Stored(p.namespace)
	selected := selectionFor(ctx, p.custom, stored, p.warn)
	planned := plan{
		job: stored, own: own, program: selected.Enforced(own), selection: selected, custom: p.custom, policy: rules || selected.Enforced(nil) != nil,
	}
	if selected.Audits() {
		planned.audited = selected.Audited(own)
	}
	return planned, nil
}
