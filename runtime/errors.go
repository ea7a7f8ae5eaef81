package runtime

import (
	"errors"
	"fmt"
)

var errNoLastGood = errors.New("the status keeps no older version of the policy")

func errPlan(rule int, err error) error {
	return fmt.Errorf("rules[%d]: plan: %w", rule, err)
}

func errTooLarge(elements int) error {
	return fmt.Errorf("the pod's status has a list of %d elements: the interpreter takes %d", elements, maxElements)
}

func errEvaluate(rule int, err error) error {
	return fmt.Errorf("rules[%d]: evaluate: %w", rule, err)
}

// errNoCause would be a defect: the expression is true of a pod in which the rule
// matches nothing.
func errNoCause(rule int) error {
	return fmt.Errorf("rules[%d]: evaluate: the expression is true, but nothing in the pod matches the rule", rule)
}

// errCustom names the policy of an error that names the rule's field.
func errCustom(policy string, err error) error {
	return fmt.Errorf("PodFailurePolicy %s: %w", policy, err)
}
