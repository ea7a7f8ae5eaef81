package compiler

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	batchv1 "k8s.io/api/batch/v1"
)

// The operators of onExitCodes (KEP-3329, "JobSpec API").
const (
	In    = batchv1.PodFailurePolicyOnExitCodesOpIn
	NotIn = batchv1.PodFailurePolicyOnExitCodesOpNotIn
)

// Operators lists all operators of onExitCodes, in the order of the API server's messages.
var Operators = []batchv1.PodFailurePolicyOnExitCodesOperator{In, NotIn}

// Lists reports whether an exit code is among the values.
func (m ExitCodes) Lists(code int32) bool { return slices.Contains(m.Values, code) }

// takes reports whether the operator matches an exit code other than 0.
func (m ExitCodes) takes(code int32) bool { return m.Lists(code) != (m.Operator == NotIn) }

// exitCode returns the CEL equivalent of takes for the exit code of a terminated
// container.
func (b *builder) exitCode(m ExitCodes, code, values ast.Expr) ast.Expr {
	in := b.call(operators.In, code, values)
	if m.Operator == NotIn {
		return b.call(operators.LogicalNot, in)
	}
	return in
}

// Phrase describes the exit codes that the operator matches. The list of values follows
// the phrase.
func (m ExitCodes) Phrase() string {
	if m.Operator == NotIn {
		return "other than 0 and those in"
	}
	return "in"
}
