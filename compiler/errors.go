package compiler

import (
	"fmt"

	"github.com/google/cel-go/common"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/internal/kubeversion"
)

func errVersion(v string, err error) error {
	return fmt.Errorf("kubernetes version %q: %w", v, err)
}

func errVersionRange(v string) error {
	return fmt.Errorf("kubernetes version %q: supported are %s to %s", v, kubeversion.First, kubeversion.Last)
}

// PolicyError is everything that the API server refuses about a policy. Paths
// start at the policy, as in rules[0].action.
type PolicyError struct {
	Errors field.ErrorList
}

func (e *PolicyError) Error() string { return e.Errors.ToAggregate().Error() }

// CompileError says which rule has no expression, and why.
type CompileError struct {
	// Rule is the index of the rule.
	Rule int
	Err  error
}

func (e *CompileError) Error() string { return fmt.Sprintf("rules[%d]: %v", e.Rule, e.Err) }

func (e *CompileError) Unwrap() error { return e.Err }

func errStatuses() error {
	return fmt.Errorf("onPodConditions asks for more than %d different statuses", maxStatuses)
}

func errCheck(errs *common.Errors) error {
	return fmt.Errorf("type check: %s", errs.ToDisplayString())
}
