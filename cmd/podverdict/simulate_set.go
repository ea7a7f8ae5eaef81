//go:build !js || constraints

package main

import (
	"context"
	"errors"
	"io"
	"slices"

	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/timeline"
	"github.com/podverdict/podverdict/controller/simulation"
	"github.com/podverdict/podverdict/internal/jobset"
)

// ofOneSet reports whether all Jobs are of the same JobSet.
func ofOneSet(jobs []manifest.Job) bool {
	set := jobs[0].JobSet
	return set != nil && !slices.ContainsFunc(jobs, func(j manifest.Job) bool { return j.JobSet != set })
}

// checkJobSet refuses the JobSet of a Job that JobSet would.
func checkJobSet(job manifest.Job) error {
	if job.JobSet == nil {
		return nil
	}
	var errs []error
	for _, f := range jobset.Check(job.JobSet) {
		if f.Check == jobset.CheckInvalid {
			errs = append(errs, job.SetOrigin().Error(f.Field, f.Message))
		}
	}
	return errors.Join(errs...)
}

// jobSetResult is what simulate writes of a JobSet as JSON and YAML; a contract with other programs.
type jobSetResult struct {
	APIVersion string                `json:"apiVersion"`
	Kind       string                `json:"kind"`
	JobSet     manifest.Reference    `json:"jobSet"`
	Seed       uint64                `json:"seed"`
	Outcome    string                `json:"outcome"`
	Reason     string                `json:"reason,omitempty"`
	Message    string                `json:"message,omitempty"`
	Seconds    int64                 `json:"seconds"`
	Status     v1alpha2.JobSetStatus `json:"status"`
	Failures   []setFailure          `json:"failures"`
	Jobs       []setJob              `json:"jobs"`
}

// setFailure is what a JobSet does about a failed Job.
type setFailure struct {
	Seconds  int64                        `json:"seconds"`
	Job      string                       `json:"job"`
	Rule     *int                         `json:"rule,omitempty"`
	RuleName string                       `json:"ruleName,omitempty"`
	Action   v1alpha2.FailurePolicyAction `json:"action,omitempty"`
	Restart  int32                        `json:"restart,omitempty"`
	Max      int32                        `json:"maxRestarts,omitempty"`
	Reason   string                       `json:"reason"`
	Message  string                       `json:"message"`
}

// setJob is the life of a Job of a JobSet.
type setJob struct {
	Name    string             `json:"name"`
	Restart int                `json:"restart"`
	Created int64              `json:"createdSeconds"`
	Seconds int64              `json:"seconds"`
	Outcome string             `json:"outcome"`
	Reason  string             `json:"reason,omitempty"`
	Message string             `json:"message,omitempty"`
	Summary simulation.Summary `json:"summary"`
}

// simulateSet returns the outcome of a JobSet's life, and how to print that.
func (o *simulateOptions) simulateSet(
	ctx context.Context, plans []plan, script simulation.Script, progress func(int),
) (outcome string, print func(io.Writer) error, err error) {
	options := simulation.SetOptions{
		Set: plans[0].job.JobSet, Jobs: map[string]simulation.Options{}, Script: script, Seed: o.seed, Until: o.until, Progress: progress,
	}
	for _, p := range plans {
		options.Jobs[p.job.ReplicatedJob] = simulation.Options{Program: p.simulated(), Selection: p.selection}
	}
	result, err := simulation.RunSet(ctx, options)
	if err != nil {
		return "", nil, err
	}
	result.Namespace = plans[0].job.Reference().Namespace
	return result.Outcome, func(out io.Writer) error {
		if o.output.isObject() {
			return writeObject(out, o.output.name, o.setResult(result))
		}
		timeline.WriteSet(out, result, o.output.name == "wide")
		return nil
	}, nil
}

func (o *simulateOptions) setResult(r *simulation.SetResult) jobSetResult {
	result := jobSetResult{
		APIVersion: apiVersion, Kind: "JobSetSimulationResult", JobSet: manifest.Reference{Namespace: r.Namespace, Name: r.Name}, Seed: o.seed,
		Outcome: r.Outcome, Reason: r.Reason, Message: r.Message, Seconds: r.Seconds, Status: r.Status, Failures: []setFailure{}, Jobs: []setJob{},
	}
	for _, f := range r.Failures {
		failure := setFailure{
			Seconds: f.Seconds, Job: f.Job.Name, RuleName: f.RuleName, Action: f.Action, Restart: f.Restart, Max: f.Max, Reason: f.Reason, Message: f.Message,
		}
		if f.Rule >= 0 {
			failure.Rule = &f.Rule
		}
		result.Failures = append(result.Failures, failure)
	}
	for _, l := range r.Jobs {
		result.Jobs = append(result.Jobs, setJob{l.Name, l.Restart, l.Created, l.Seconds, l.Outcome, l.Reason, l.Message, l.Summary})
	}
	return result
}
