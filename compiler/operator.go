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

// Operators are all operators of onExitCodes, in the order of the API server's messages.
var Operators = []batchv1.PodFailurePolicyOnExitCodesOperator{In, NotIn}

// Lists reports whether an exit code is among the values.
func (m ExitCodes) Lists(code int32) bool { return slices.Contains(m.Values, code) }

// takes reports whether the operator takes an exit code other than 0.
func (m ExitCodes) takes(code int32) bool { return m.Lists(code) != (m.Operator == NotIn) }

// exitCode is the CEL of takes, about the exit code of a terminated container.
func (b *builder) exitCode(m ExitCodes, code, values ast.Expr) ast.Expr {
	in := b.call(operators.In, code, values)
	if m.Operator == NotIn {
		return b.call(operators.LogicalNot, in)
	}
	return in
}

// Phrase says in words which exit codes the operator takes, before the list of its values.
func (m ExitCodes) Phrase() string {
	if m.Operator == NotIn {
		return "other than 0 and those in"
	}
	return "in"
}
