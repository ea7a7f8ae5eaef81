package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
)

// judging is a source of Jobs and Pods to judge, and by which policies.
type judging struct {
	source

	policyFile string
}

func (j *judging) addFlags(cmd *cobra.Command) {
	j.source.addFlags(cmd, cluster.Job, cluster.CronJob, cluster.Pod)
	j.addVersionFlag(cmd)
	cmd.Flags().StringVar(&j.policyFile, "policy", "",
		"file, URL or - with a Job or CronJob whose podFailurePolicy decides in place of the Jobs' own")
}

// plan is what decides on the Pods of a Job.
type plan struct {
	program *runtime.Program
	policy  bool // there is a podFailurePolicy
}

// family is a Job with its plan and its Pods.
type family struct {
	manifest.Family
	plan
}

// readFamilies reads Jobs with their Pods, and plans the programs.
func (j *judging) readFamilies(cmd *cobra.Command, args []string) ([]family, error) {
	planned, err := j.newPlanner(cmd)
	if err != nil {
		return nil, err
	}
	members, err := j.readMembers(cmd, args)
	if err != nil {
		return nil, err
	}
	families := make([]family, len(members))
	var errs []error
	for i, m := range members {
		families[i].Family = m
		families[i].plan, err = planned.plan(m.Job)
		errs = append(errs, err)
	}
	return families, errors.Join(errs...)
}

// planner plans the programs of Jobs.
type planner struct {
	environment *compiler.Environment
	given       *plan // by --policy
}

func (j *judging) newPlanner(cmd *cobra.Command) (*planner, error) {
	environment, err := compiler.NewEnvironment(j.kubernetes)
	if err != nil {
		return nil, err
	}
	p := &planner{environment: environment}
	if j.policyFile == "" {
		return p, nil
	}
	job, err := j.readPolicy(cmd)
	if err != nil {
		return nil, err
	}
	given, err := p.plan(job)
	p.given = &given
	return p, err
}

// readPolicy reads the Job of --policy.
func (j *judging) readPolicy(cmd *cobra.Command) (manifest.Job, error) {
	if j.policyFile == "-" && slices.Contains(j.Filenames, "-") {
		return manifest.Job{}, errUsage(cmd, errStdinTwice("--policy"))
	}
	return readOneJob(cmd.Context(), manifest.Options{Filenames: []string{j.policyFile}, Stdin: cmd.InOrStdin()})
}

func readOneJob(ctx context.Context, options manifest.Options) (manifest.Job, error) {
	set, err := manifest.Read(ctx, options)
	if err != nil {
		return manifest.Job{}, err
	}
	if len(set.Jobs) != 1 {
		return manifest.Job{}, errNotOneJob(options.Filenames[0], len(set.Jobs))
	}
	return set.Jobs[0], nil
}

func (p *planner) plan(job manifest.Job) (plan, error) {
	if p.given != nil {
		return *p.given, nil
	}
	compiled, err := compilePolicy(p.environment, job)
	if err != nil {
		return plan{}, err
	}
	program, err := runtime.NewProgram(compiled, runtime.Options{})
	if err != nil {
		return plan{}, job.Origin.Error(policyField, err.Error())
	}
	return plan{program, job.Object.Spec.PodFailurePolicy != nil}, nil
}
