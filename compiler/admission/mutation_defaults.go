package admission

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/compiler"
)

// DefaultedFields lists the JSON names of the Job spec fields that can have a default.
var DefaultedFields = [...]string{
	fieldPodFailurePolicy, fieldPodReplacementPolicy, fieldManagedBy, fieldBackoffLimit, fieldBackoffLimitPerIndex,
	fieldMaxFailedIndexes, fieldActiveDeadlineSeconds, fieldTTLSecondsAfterFinished,
}

const (
	fieldPodFailurePolicy        = "podFailurePolicy"
	fieldPodReplacementPolicy    = "podReplacementPolicy"
	fieldManagedBy               = "managedBy"
	fieldBackoffLimit            = "backoffLimit"
	fieldBackoffLimitPerIndex    = "backoffLimitPerIndex"
	fieldMaxFailedIndexes        = "maxFailedIndexes"
	fieldActiveDeadlineSeconds   = "activeDeadlineSeconds"
	fieldTTLSecondsAfterFinished = "ttlSecondsAfterFinished"
)

// Limits of the API on Indexed Jobs (pkg/apis/batch/validation/validation.go). Jobs with a limit per index and more than
// manyIndexes indexes may have no more than fewPods running Pods and fewFailedIndexes failed indexes.
const (
	manyIndexes      = 100_000
	fewPods          = 10_000
	fewFailedIndexes = 10_000
	maxManagedBy     = 63
)

// CheckDefaults validates defaults, which are the fields of a Job spec that DefaultedFields lists. It reports values that no Job
// could have, and ignores other fields.
func CheckDefaults(s *batchv1.JobSpec) field.ErrorList {
	spec := field.NewPath("spec")
	d := defaults{s}
	errs := d.illegalLimits(spec)
	errs = append(errs, d.illegalPolicy(spec.Child(fieldPodFailurePolicy))...)
	errs = append(errs, d.illegalReplacement(spec.Child(fieldPodReplacementPolicy))...)
	errs = append(errs, d.illegalManager(spec.Child(fieldManagedBy))...)
	if s.PodFailurePolicy == nil && s.PodReplacementPolicy == nil && s.ManagedBy == nil && s.BackoffLimit == nil && s.BackoffLimitPerIndex == nil &&
		s.MaxFailedIndexes == nil && s.ActiveDeadlineSeconds == nil && s.TTLSecondsAfterFinished == nil {
		errs = append(errs, field.Required(spec, "at least one of "+strings.Join(DefaultedFields[:], ", ")))
	}
	return errs
}

// defaults are the default values in a Job spec.
type defaults struct{ *batchv1.JobSpec }

func (d defaults) illegalLimits(spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	notNegative := func(name string, value int64) {
		errs = append(errs, apivalidation.ValidateNonnegativeField(value, spec.Child(name))...)
	}
	for _, limit := range []struct {
		name  string
		value *int32
	}{
		{fieldBackoffLimit, d.BackoffLimit}, {fieldBackoffLimitPerIndex, d.BackoffLimitPerIndex},
		{fieldMaxFailedIndexes, d.MaxFailedIndexes}, {fieldTTLSecondsAfterFinished, d.TTLSecondsAfterFinished},
	} {
		if limit.value != nil {
			notNegative(limit.name, int64(*limit.value))
		}
	}
	if d.ActiveDeadlineSeconds != nil {
		notNegative(fieldActiveDeadlineSeconds, *d.ActiveDeadlineSeconds)
	}
	if indexes := d.MaxFailedIndexes; indexes != nil && *indexes > manyIndexes {
		errs = append(errs, field.Invalid(spec.Child(fieldMaxFailedIndexes), *indexes,
			fmt.Sprintf("must be less than or equal to %d", manyIndexes)))
	}
	return errs
}

func (d defaults) illegalPolicy(path *field.Path) field.ErrorList {
	if d.PodFailurePolicy == nil {
		return nil
	}
	if len(d.PodFailurePolicy.Rules) == 0 {
		return field.ErrorList{field.Required(path.Child("rules"), "a policy without rules decides nothing")}
	}
	var errs field.ErrorList
	if _, err := compiler.NewPolicy(d.PodFailurePolicy); err != nil {
		refused, ok := errors.AsType[*compiler.PolicyError](err)
		if !ok {
			return field.ErrorList{field.InternalError(path, err)}
		}
		for _, e := range refused.Errors {
			e.Field = path.String() + "." + e.Field
			errs = append(errs, e)
		}
	}
	for i, rule := range d.PodFailurePolicy.Rules {
		if rule.OnExitCodes == nil || rule.OnExitCodes.ContainerName == nil {
			continue
		}
		name := *rule.OnExitCodes.ContainerName
		for _, problem := range validation.IsDNS1123Label(name) {
			errs = append(errs, field.Invalid(path.Child("rules").Index(i).Child("onExitCodes", "containerName"), name, problem))
		}
	}
	return errs
}

func (d defaults) illegalReplacement(path *field.Path) field.ErrorList {
	if d.PodReplacementPolicy == nil {
		return nil
	}
	supported := []batchv1.PodReplacementPolicy{batchv1.Failed, batchv1.TerminatingOrFailed}
	if d.PodFailurePolicy != nil {
		supported = supported[:1]
	}
	if slices.Contains(supported, *d.PodReplacementPolicy) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, *d.PodReplacementPolicy, supported)}
}

func (d defaults) illegalManager(path *field.Path) field.ErrorList {
	if d.ManagedBy == nil {
		return nil
	}
	errs := validation.IsDomainPrefixedPath(path, *d.ManagedBy)
	if len(*d.ManagedBy) > maxManagedBy {
		errs = append(errs, field.TooLong(path, *d.ManagedBy, maxManagedBy))
	}
	return errs
}
