// Package custom compiles the expressions of a PodFailurePolicy (podverdict.io) and reports
// problems in them. It does not evaluate expressions; package runtime does.
//
//	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
//	policy, err := custom.Compile(environment, &object.Spec)
//
// Given
//
//	variables:
//	- {name: oom, expression: "pod.failedContainers().exists(c, c.oomKilled)"}
//	rules:
//	- {name: out-of-memory, when: "variables.oom && attempt > 3", action: FailJob}
//
// Compile parses each expression and reports references to undefined variables and reference
// cycles. It type-checks the expression with the API server's own CEL environment for the
// chosen Kubernetes version, extended by the types and functions of compiler/cel and the
// preceding variables. It estimates the expression's cost within declared bounds. It also
// reports valid expressions that are probably mistakes: fields that may be absent, and rules
// that can never match. Every problem is a [compiler.Finding] with a position in an expression.
// An expression with an error gets the type dyn, so that the expressions that use it are
// checked too. If there are no errors, Compile returns a [Policy].
//
// # Language
//
// A rule can use pod and job, with the complete schemas of both; attempt, the number of the pod
// at its index or slot, starting at 1; attempts, the earlier attempts; node, the pod's node, if
// there is one; variables, as variables.NAME; and now, in rules on living pods. Match
// conditions can use only job. Package compiler/cel defines the fields and when they are
// absent, and adds its functions to the API server's CEL.
//
// # Bounds
//
// The static cost of an expression holds for pods and Jobs within the bounds that the constants
// declare (MaxContainers and the following ones). The API itself limits few of these sizes.
// Compile rejects an expression whose cost within the bounds may exceed compiler.CostLimit, and
// a policy whose expressions may together exceed compiler.CostBudget. The same two limits stop
// an evaluation.
package custom
