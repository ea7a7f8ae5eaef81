package rego

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ValidateJob is Validate for typed Jobs. Their kinds must be set; oldJob is nil if the Job is being
// created.
func (v *Validator) ValidateJob(ctx context.Context, job, oldJob *batchv1.Job) ([]Finding, error) {
	object, err := Object(job)
	if err != nil {
		return nil, err
	}
	var oldObject map[string]any
	if oldJob != nil {
		if oldObject, err = Object(oldJob); err != nil {
			return nil, err
		}
	}
	return v.Validate(ctx, object, oldObject)
}

// Object converts a typed Job or CronJob to the form that Validate expects. Its kind must be set.
func Object(typed any) (map[string]any, error) {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return nil, errObject(err)
	}
	return object, nil
}
