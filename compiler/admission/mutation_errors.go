package admission

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	messageNegative = "must be greater than or equal to 0"
	messageNoRules  = "a policy without rules decides nothing"
)

func messageAtMost(limit int) string { return fmt.Sprintf("must be less than or equal to %d", limit) }

func messageNoDefaults() string {
	return "at least one of " + strings.Join(DefaultedFields[:], ", ")
}

// DefaultsError is everything that no Job could have. Paths begin with spec.
type DefaultsError struct {
	Errors field.ErrorList
}

func (e *DefaultsError) Error() string { return e.Errors.ToAggregate().Error() }

func errMutationKind(kind string) error {
	return fmt.Errorf("defaults are given to Jobs and CronJobs, not to %s", kind)
}

func errMutationVersion(kubernetes string) error {
	return fmt.Errorf("kubernetes %s has no MutatingAdmissionPolicy: it came with %s", kubernetes, mutationVersions[len(mutationVersions)-1].since)
}
