//go:build !js || constraints

package main

import (
	"context"
	"errors"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/inspect"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/runtime/rego"
)

// checkJob refuses a Job that the API server would.
func checkJob(ctx context.Context, job manifest.Job) error {
	validator, err := rego.New(ctx, rego.Options{})
	if err != nil {
		return err
	}
	object, err := inspect.Object(job)
	if err != nil {
		return job.Whole().Error("", err.Error())
	}
	found, err := validator.Validate(ctx, object, nil)
	if err != nil {
		return inspect.Origin(job).Error("", err.Error())
	}
	var errs []error
	for _, f := range found {
		if f.Severity == "error" {
			errs = append(errs, inspect.Origin(job).Error(f.Field, f.Sentence()))
		}
	}
	return errors.Join(errs...)
}
