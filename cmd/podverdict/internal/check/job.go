package check

import (
	"context"
	"errors"

	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/runtime/rego"
)

// Job returns the joined validation errors with which the API server would reject a Job.
func Job(ctx context.Context, job manifest.Job) error {
	validator, err := rego.New(ctx, rego.Options{})
	if err != nil {
		return err
	}
	object, err := objectOf(job)
	if err != nil {
		return job.Whole().Error("", err.Error())
	}
	found, err := validator.Validate(ctx, object, nil)
	if err != nil {
		return originOf(job).Error("", err.Error())
	}
	var errs []error
	for _, f := range found {
		if f.Severity == "error" {
			errs = append(errs, originOf(job).Error(f.Field, f.Sentence()))
		}
	}
	return errors.Join(errs...)
}
