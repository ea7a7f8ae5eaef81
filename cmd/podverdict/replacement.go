package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	name manifest.Reference
}

func (i identity) String() string { return i.kind + " " + i.name.String() }

func identityOf(j manifest.Job) identity {
	if j.CronJob != nil {
		return identity{"CronJob", j.Reference()}
	}
	return identity{"Job", j.Reference()}
}

// readReplacements reads what is given and what that replaces.
func readReplacements(ctx context.Context, c *console, o *validateOptions, args []string) ([]replacement, error) {
	if slices.Contains(o.old, "-") && slices.Contains(o.source.files.Filenames, "-") {
		return nil, errStdinTwice("--old")
	}
	if len(o.old) > 0 && !o.source.fromFiles() {
		return nil, usagef("--old is for files given with -f")
	}
	jobs, err := o.source.readJobs(ctx, c, args)
	if err != nil {
		return nil, err
	}
	old, err := readOld(ctx, c, o)
	if err != nil {
		return nil, err
	}
	replacements, paired := make([]replacement, len(jobs)), false
	for i, job := range jobs {
		replacements[i].job = job
		if replaced, ok := old[identityOf(job)]; ok {
			replacements[i].old, paired = &replaced, true
		}
	}
	if len(o.old) > 0 && !paired {
		return nil, fmt.Errorf("--old %s: none of the objects given with -f is in there, by kind, namespace and name",
			strings.Join(o.old, ",")) // these may be the wrong files
	}
	return replacements, nil
}

// readOld reads the objects that are replaced.
func readOld(ctx context.Context, c *console, o *validateOptions) (map[identity]manifest.Job, error) {
	old := map[identity]manifest.Job{}
	if len(o.old) == 0 {
		return old, nil
	}
	files := o.source.files
	files.Filenames = o.old
	set, err := readFiles(ctx, c, files)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, job := range set.Jobs {
		id := identityOf(job)
		if first, taken := old[id]; taken {
			message := fmt.Sprintf("%s is given twice with --old, first at %s", id, first.Whole().Position("metadata.name"))
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
