package protocol

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	sigsjson "sigs.k8s.io/json"
)

// Validator returns the API server's errors for a Job, after setting its defaults. With an oldJob, it applies the rules for
// updates. A program that serves only verdicts has no Validator, and does not link the Rego bundles.
type Validator func(ctx context.Context, job, oldJob *batchv1.Job) ([]FieldError, error)

// FieldError is an error of the API server's validation.
type FieldError struct {
	// Field is the path in the Job, such as spec.podFailurePolicy.rules[0].action.
	Field string
	// Type is FieldValueInvalid, FieldValueRequired, FieldValueNotSupported, and so on.
	Type field.ErrorType
	// Detail is the API server's text.
	Detail string
}

// maxJob is the maximum size of a Job, in bytes of JSON: 4 MiB. The API server accepts requests of 3 MiB.
const maxJob = 4 << 20

// validate calls the validator, and converts a panic to an error.
func (c *conversation) validate(ctx context.Context, r *wireRequest) (errs []FieldError, err error) {
	if c.server.Validate == nil {
		return nil, errors.New(`op "validate" is not answered here: it needs the Rego bundles`)
	}
	if r.Job == nil {
		return nil, errors.New("job is required")
	}
	job, err := decodeJob("job", r.Job)
	if err != nil {
		return nil, err
	}
	oldJob, err := decodeJob("oldJob", r.OldJob)
	if err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return c.server.Validate(ctx, job, oldJob)
}

// decodeJob decodes strictly: a misspelt field must not hide an error. The kind may be missing.
func decodeJob(name string, raw []byte) (*batchv1.Job, error) {
	if raw == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	if len(raw) > maxJob {
		return nil, fmt.Errorf("%s: longer than %d bytes", name, maxJob)
	}
	job := new(batchv1.Job)
	strict, err := sigsjson.UnmarshalStrict(raw, job)
	if err = errors.Join(append(strict, err)...); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	kind := metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"}
	if job.TypeMeta != (metav1.TypeMeta{}) && job.TypeMeta != kind {
		return nil, fmt.Errorf("%s: is a %s %s, not a batch/v1 Job", name, job.APIVersion, job.Kind)
	}
	job.TypeMeta = kind
	return job, nil
}

// errors returns the response to validate. Invalid UTF-8 is replaced.
func (c *conversation) errors(id []byte, errs []FieldError) []byte {
	c.open(id)
	c.response = append(c.response, `"errors":[`...)
	for i, e := range errs {
		if i > 0 {
			c.response = append(c.response, ',')
		}
		c.member(`{"field":`, e.Field)
		c.member(`,"type":`, string(e.Type))
		c.member(`,"detail":`, e.Detail)
		c.response = append(c.response, '}')
	}
	c.response = append(c.response, "]}\n"...)
	return c.response
}

func (c *conversation) member(name, value string) {
	c.response = append(c.response, name...)
	c.response, _ = jsontext.AppendQuote(c.response, value)
}
