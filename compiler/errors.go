package compiler

import (
	"fmt"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func errNoObject(got any) error {
	return fmt.Errorf("no such field on %T", got)
}

func errNoField(t *types.Type, name ref.Val) error {
	return fmt.Errorf("no such field %v in %s", name, t.TypeName())
}

func errNoConversion(from *types.Type, to string) error {
	return fmt.Errorf("type conversion error from %s to %s", from.TypeName(), to)
}

func errVersion(v string, err error) error {
	return fmt.Errorf("kubernetes version %q: %w", v, err)
}

func errVersionRange(v string) error {
	return fmt.Errorf("kubernetes version %q: supported are %s to %s", v, firstVersion, lastVersion)
}

func errEnvironment(v string, err error) error {
	return fmt.Errorf("cel environment of kubernetes %s: %w", v, err)
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
