package binding

import "fmt"

func errSelector(binding, field string, err error) error {
	return fmt.Errorf("PodFailurePolicyBinding %s: spec.%s: %w", binding, field, err)
}

func errApplies(policy string, err error) error {
	return fmt.Errorf("PodFailurePolicy %s: %w", policy, err)
}
