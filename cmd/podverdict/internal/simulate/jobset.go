package simulate

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/controller/simulation"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/kube/jobset"
)

func ofOneSet(jobs []manifest.Job) bool {
	set := jobs[0].JobSet
	return set != nil && !slices.ContainsFunc(jobs, func(j manifest.Job) bool { return j.JobSet != set })
}

// checkJobSet reports the errors for which JobSet would reject the Job's JobSet.
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

// jobSetResult is the JSON and YAML output for a JobSet. It is a stable format for other programs.
type jobSetResult struct {
	APIVersion            string             `json:"apiVersion"`
	Kind                  string             `json:"kind"`
	JobSet                manifest.Reference `json:"jobSet"`
	Seed                  uint64             `json:"seed"`
	*simulation.SetResult `json:",inline"`
}

func (o *options) simulateSet(
	ctx context.Context, jobs []manifest.Job, options []simulation.Options,
) (outcome string, write func(io.Writer) error, err error) {
	byName := map[string]simulation.Options{}
	for i, job := range jobs {
		byName[job.ReplicatedJob] = options[i]
	}
	result, err := simulation.RunSet(ctx, simulation.SetOptions{
		Options: options[0], Set: jobs[0].JobSet, Jobs: byName, Detailed: o.output.Name == "wide",
	})
	if err != nil {
		return "", nil, err
	}
	named := manifest.Reference{Namespace: jobs[0].Reference().Namespace, Name: jobs[0].JobSet.Name}
	return result.Outcome, func(out io.Writer) error {
		if o.output.IsObject() {
			return o.output.WriteObject(out, jobSetResult{print.APIVersion, "JobSetSimulationResult", named, o.seed, result})
		}
		writeSet(out, named.String(), result)
		return nil
	}, nil
}
