package binding

import "fmt"

func errSelector(binding, field string, err error) error {
	return fmt.Errorf("PodFailurePolicyBinding %s: spec.%s: %w", binding, field, err)
}

// ConditionError is the error of a policy's match condition that could not be evaluated.
type ConditionError struct {
	Policy string
	Err    error
}

func (e *ConditionError) Error() string {
	return fmt.Sprintf("PodFailurePolicy %s: %v", e.Policy, e.Err)
}

func (e *ConditionError) Unwrap() error { return e.Err }
