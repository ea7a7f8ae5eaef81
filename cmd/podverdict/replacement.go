package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/runtime/rego"
)

// replacement is a Job or CronJob of the input and what it replaces; nothing when it is created.
type replacement struct {
	job manifest.Job
	old *manifest.Job
}

// identity is what an update cannot change.
type identity struct {
	kind string
	name reference
}

func (v *validation) identity(j manifest.Job) identity {
	kind := "Job"
	if j.CronJob != nil {
		kind = "CronJob"
	}
	return identity{kind, v.input.jobReference(j)}
}

// readReplacements reads what is given and what that replaces.
func (v *validation) readReplacements(cmd *cobra.Command, args []string) ([]replacement, error) {
	if slices.Contains(v.old, "-") && slices.Contains(v.input.Filenames, "-") {
		return nil, errUsage(cmd, errStdinTwice("--old"))
	}
	if len(v.old) > 0 && len(v.input.Filenames) == 0 {
		return nil, errUsage(cmd, errors.New("--old is for files given with -f"))
	}
	jobs, err := v.input.readJobs(cmd, args)
	if err != nil {
		return nil, err
	}
	old, err := v.readOld(cmd.Context(), cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	replacements, paired := make([]replacement, len(jobs)), false
	for i, job := range jobs {
		replacements[i].job = job
		if replaced, ok := old[v.identity(job)]; ok {
			replacements[i].old, paired = &replaced, true
		}
	}
	if len(v.old) > 0 && !paired {
		return nil, fmt.Errorf("--old %s: none of the objects given with -f is in there, by kind, namespace and name",
			strings.Join(v.old, ",")) // these may be the wrong files
	}
	return replacements, nil
}

func (v *validation) readOld(ctx context.Context, stdin io.Reader) (map[identity]manifest.Job, error) {
	old := map[identity]manifest.Job{}
	if len(v.old) == 0 {
		return old, nil
	}
	options := v.input.Options
	options.Filenames, options.Stdin = v.old, stdin
	set, err := manifest.Read(ctx, options)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, job := range set.Jobs {
		id := v.identity(job)
		if first, taken := old[id]; taken {
			message := fmt.Sprintf("%s %s is given twice with --old, first at %s",
				id.kind, id.name, first.Whole().Position("metadata.name"))
			errs = append(errs, job.Whole().Error("metadata.name", message))
			continue
		}
		old[id] = job
	}
	return old, errors.Join(errs...)
}

func (r replacement) validate(ctx context.Context, validator *rego.Validator) ([]rego.Finding, error) {
	given, err := object(r.job)
	if err != nil {
		return nil, err
	}
	if r.old == nil {
		return validator.Validate(ctx, given, nil)
	}
	replaced, err := object(*r.old)
	if err != nil {
		return nil, err
	}
	return validator.Validate(ctx, given, replaced)
}

// object is what the API server would be given. The items of a JobList need not say that they are Jobs.
func object(j manifest.Job) (map[string]any, error) {
	if j.CronJob == nil {
		job := *j.Object
		job.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
		return rego.Object(&job)
	}
	cronJob := *j.CronJob
	cronJob.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "CronJob"}
	return rego.Object(&cronJob)
}
