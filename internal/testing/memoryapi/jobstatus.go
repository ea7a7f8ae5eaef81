package memoryapi

import (
	"context"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/runtime/rego"
)

// statusRules are the API server's rules for a write to the status of a Job. conformance/upstream compares the bundle
// with Kubernetes.
var statusRules = sync.OnceValues(func() (*rego.Validator, error) {
	return rego.New(context.Background(), rego.Options{Status: true})
})

// statusErrors returns the API server's errors for a write to the status. Rules about unchanged fields are not applied,
// so a status that violates one can still be written.
func statusErrors(old, job *batchv1.Job) (errs field.ErrorList) {
	rules, err := statusRules()
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("status"), err)}
	}
	findings, err := rules.ValidateJob(context.Background(), job, old)
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("status"), err)}
	}
	for _, f := range findings {
		errs = append(errs, field.Invalid(field.NewPath(f.Field), "", f.Detail))
	}
	return errs
}
