package compiler

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
)

// API limits on a policy (pkg/apis/batch/validation/validation.go).
const (
	MaxRules    = 20
	MaxValues   = 255
	MaxPatterns = 20
)

var (
	knownActions = []batchv1.PodFailurePolicyAction{
		batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex,
		batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore,
	}
	knownStatuses = []corev1.ConditionStatus{
		corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown,
	}
)

// NewPolicy validates and converts a policy as the API server does when it is written. It applies
// defaults (an empty condition status becomes True). If the API server would reject the policy
// itself, the error is a *PolicyError with all errors in the API server's words. NewPolicy does not
// check anything that depends on the rest of the Job, such as container names, backoffLimitPerIndex
// and restartPolicy. A nil policy has no rules.
func NewPolicy(p *batchv1.PodFailurePolicy) (*Policy, error) {
	if p == nil {
		return &Policy{}, nil
	}
	p = withDefaults(p)
	if errs := illegal(p); len(errs) > 0 {
		return nil, &PolicyError{Errors: errs}
	}
	return StoredPolicy(p), nil
}

// withDefaults returns a copy with the API's only default applied: an empty status becomes True.
func withDefaults(p *batchv1.PodFailurePolicy) *batchv1.PodFailurePolicy {
	p = p.DeepCopy()
	jobdefaults.SetPolicy(p)
	return p
}

func illegal(p *batchv1.PodFailurePolicy) field.ErrorList {
	var errs field.ErrorList
	path := field.NewPath("rules")
	if n := len(p.Rules); n > MaxRules {
		errs = append(errs, field.TooMany(path, n, MaxRules))
	}
	for i := range p.Rules {
		errs = append(errs, illegalRule(&p.Rules[i], path.Index(i))...)
	}
	return errs
}

func illegalRule(r *batchv1.PodFailurePolicyRule, path *field.Path) field.ErrorList {
	errs := oneOf(path.Child("action"), r.Action, knownActions)
	if r.OnExitCodes != nil {
		errs = append(errs, illegalExitCodes(r.OnExitCodes, path.Child("onExitCodes"))...)
	}
	errs = append(errs, illegalConditions(r.OnPodConditions, path.Child("onPodConditions"))...)
	switch exit, conditions := r.OnExitCodes != nil, len(r.OnPodConditions) > 0; {
	case exit && conditions:
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported"))
	case !exit && !conditions:
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required"))
	}
	return errs
}

func oneOf[T ~string](path *field.Path, value T, supported []T) field.ErrorList {
	switch {
	case value == "":
		return field.ErrorList{field.Required(path, fmt.Sprintf("valid values: %q", supported))}
	case !slices.Contains(supported, value):
		return field.ErrorList{field.NotSupported(path, value, supported)}
	default:
		return nil
	}
}

func illegalExitCodes(r *batchv1.PodFailurePolicyOnExitCodesRequirement, path *field.Path) field.ErrorList {
	errs := oneOf(path.Child("operator"), r.Operator, Operators)
	path = path.Child("values")
	switch n := len(r.Values); {
	case n == 0:
		errs = append(errs, field.Invalid(path, r.Values, "at least one value is required"))
	case n > MaxValues:
		errs = append(errs, field.TooMany(path, n, MaxValues))
	}
	seen := map[int32]bool{}
	for i, v := range r.Values {
		if v == 0 && r.Operator == In {
			errs = append(errs, field.Invalid(path.Index(i), v, "must not be 0 for the In operator"))
		}
		if seen[v] {
			errs = append(errs, field.Duplicate(path.Index(i), v))
		}
		seen[v] = true
	}
	if !slices.IsSorted(r.Values) {
		errs = append(errs, field.Invalid(path, r.Values, "must be ordered"))
	}
	return errs
}

func illegalConditions(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if n := len(patterns); n > MaxPatterns {
		errs = append(errs, field.TooMany(path, n, MaxPatterns))
	}
	for i, p := range patterns {
		for _, problem := range validation.IsQualifiedName(string(p.Type)) {
			errs = append(errs, field.Invalid(path.Index(i).Child("type"), string(p.Type), problem))
		}
		errs = append(errs, oneOf(path.Index(i).Child("status"), p.Status, knownStatuses)...)
	}
	return errs
}
