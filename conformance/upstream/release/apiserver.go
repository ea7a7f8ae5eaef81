package release

import (
	"context"
	"encoding/json"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podapi "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install" // gives the scheme batch/v1 with its defaults
	"k8s.io/kubernetes/pkg/apis/batch/validation"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // gives the scheme pod templates
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
)

// Fault is one error or warning of the API server about a Job.
type Fault struct {
	// Field is the path, Type an error type of apimachinery or "Warning".
	Field, Type, Detail string
	// Message is the line that kubectl prints, without the value if that is the whole pod template.
	Message string
}

// Submission is a request to the API server, in JSON.
type Submission struct {
	// Object is a Job or a CronJob; Old is the stored Job that it replaces, if any.
	Object, Old []byte
	// CronJob is true for a CronJob, Status for a write to a Job's status.
	CronJob, Status bool
}

// APIServer answers like the API server: it decodes, defaults, converts, prepares and validates. It omits two checks that
// apply to any pod template and not only to Jobs: see foreign.
//
// Upstream panics if an Indexed Job has a success policy and no completions. Then it is queried again without the policy,
// so the answer has all faults except the policy's, and panicked is true.
func APIServer(ctx context.Context, s Submission) (faults []Fault, panicked bool, err error) {
	if s.CronJob {
		return cronJobFaults(ctx, s)
	}
	newJob, err := Decode(s.Object)
	if err != nil {
		return nil, false, err
	}
	if s.Old == nil {
		faults, panicked := again(func() []Fault { return createFaults(ctx, newJob.DeepCopy()) }, &newJob.Spec)
		return faults, panicked, nil
	}
	old, err := Decode(s.Old)
	if err != nil {
		return nil, false, err
	}
	if s.Status {
		job.StatusStrategy.PrepareForUpdate(ctx, newJob, old)
		return makeFaults(job.StatusStrategy.ValidateUpdate(ctx, newJob, old)), false, nil
	}
	faults, panicked = again(func() []Fault { return updateFaults(ctx, newJob.DeepCopy(), old) }, &newJob.Spec, &old.Spec)
	return faults, panicked, nil
}

// again queries once more, without success policies, if upstream panics because completions are missing. Every other
// panic is passed on.
func again(ask func() []Fault, specs ...*batch.JobSpec) (faults []Fault, panicked bool) {
	defer func() {
		if specs[0].Completions != nil || specs[0].SuccessPolicy == nil {
			return
		}
		if r := recover(); r != nil {
			for _, s := range specs {
				s.SuccessPolicy = nil
			}
			faults, panicked = ask(), true
		}
	}()
	return ask(), false
}

// Stored returns a Job as read from the API server, with its defaults.
func Stored(document []byte) ([]byte, error) {
	internal, err := Decode(document)
	if err != nil {
		return nil, err
	}
	written := new(batchv1.Job)
	if err := legacyscheme.Scheme.Convert(internal, written, nil); err != nil {
		return nil, err
	}
	written.APIVersion, written.Kind = batchv1.SchemeGroupVersion.String(), "Job"
	return json.Marshal(written)
}

// Decode decodes a Job like the API server, with its defaults.
func Decode(document []byte) (*batch.Job, error) {
	written, internal := new(batchv1.Job), new(batch.Job)
	if err := json.Unmarshal(document, written); err != nil {
		return nil, err
	}
	legacyscheme.Scheme.Default(written)
	return internal, legacyscheme.Scheme.Convert(written, internal, nil)
}

func createFaults(ctx context.Context, j *batch.Job) []Fault {
	if j.UID == "" {
		j.UID = types.UID("00000000-0000-4000-8000-000000000000")
	}
	job.Strategy.PrepareForCreate(ctx, j)
	faults := makeFaults(job.Strategy.Validate(ctx, j))
	return append(faults, warnings("spec", job.Strategy.WarningsOnCreate(ctx, j))...)
}

func updateFaults(ctx context.Context, j, old *batch.Job) []Fault {
	job.Strategy.PrepareForUpdate(ctx, j, old)
	faults := makeFaults(job.Strategy.ValidateUpdate(ctx, j, old))
	return append(faults, warnings("spec", job.Strategy.WarningsOnUpdate(ctx, j, old))...)
}

func cronJobFaults(ctx context.Context, s Submission) (faults []Fault, panicked bool, err error) {
	cron, err := DecodeCronJob(s.Object)
	if err != nil {
		return nil, false, err
	}
	const path = "spec.jobTemplate.spec"
	spec := &cron.Spec.JobTemplate.Spec
	if s.Old == nil {
		faults, panicked = again(func() []Fault {
			faults := makeFaults(validation.ValidateCronJobCreate(cron, podapi.GetValidationOptionsFromPodTemplate(&spec.Template, nil)))
			return append(faults, warnings(path, cronjob.Strategy.WarningsOnCreate(ctx, cron))...)
		}, spec)
		return faults, panicked, nil
	}
	old, err := DecodeCronJob(s.Old)
	if err != nil {
		return nil, false, err
	}
	cronjob.Strategy.PrepareForUpdate(ctx, cron, old)
	faults, panicked = again(func() []Fault {
		options := podapi.GetValidationOptionsFromPodTemplate(&spec.Template, &old.Spec.JobTemplate.Spec.Template)
		faults := makeFaults(validation.ValidateCronJobUpdate(cron, old, options))
		return append(faults, warnings(path, cronjob.Strategy.WarningsOnUpdate(ctx, cron, old))...)
	}, spec)
	return faults, panicked, nil
}

// DecodeCronJob decodes a CronJob like the API server, with its defaults.
func DecodeCronJob(document []byte) (*batch.CronJob, error) {
	written, internal := new(batchv1.CronJob), new(batch.CronJob)
	if err := json.Unmarshal(document, written); err != nil {
		return nil, err
	}
	legacyscheme.Scheme.Default(written)
	return internal, legacyscheme.Scheme.Convert(written, internal, nil)
}

func makeFaults(errs field.ErrorList) []Fault {
	var faults []Fault
	for _, e := range errs {
		if foreign(e) {
			continue
		}
		f := Fault{Field: e.Field, Type: string(e.Type), Detail: e.Detail, Message: e.Error()}
		if f.OfTemplate() {
			f.Message = field.Invalid(field.NewPath(e.Field), field.OmitValueType{}, e.Detail).Error()
		}
		faults = append(faults, f)
	}
	return faults
}

// OfTemplate reports whether the value of the fault is the whole pod template.
func (f Fault) OfTemplate() bool {
	return strings.HasSuffix(f.Field, "spec.template") || strings.HasSuffix(f.Field, "spec.template.spec")
}

// foreign reports whether an error is about the restart policy of pods in general. Upstream reports an invalid restart
// policy of a Job a second time, with the list of policies that a Job can have.
func foreign(e *field.Error) bool {
	return strings.HasSuffix(e.Field, "spec.template.spec.restartPolicy") && e.Type == field.ErrorTypeNotSupported &&
		strings.Contains(e.Detail, `"Always"`)
}

// warnings returns the warnings about the spec as a whole. Upstream has others, about the pod template and the name,
// which are not constraints.
func warnings(path string, texts []string) []Fault {
	var faults []Fault
	for _, text := range texts {
		if detail, ok := strings.CutPrefix(text, path+": "); ok {
			faults = append(faults, Fault{Field: path, Type: "Warning", Detail: detail, Message: text})
		}
	}
	return faults
}
