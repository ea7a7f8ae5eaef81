// Package custom compiles the expressions of a PodFailurePolicy (podverdict.io) and tells
// their authors what is wrong with them. It evaluates nothing: package runtime does.
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
// Compile parses each expression and looks for references to variables that are not
// there, or that go round in a circle; has it checked by the API server's own CEL
// environment of the chosen Kubernetes version, extended by the types and functions of
// compiler/cel and the variables before it; estimates its
// cost within declared bounds; and looks for what is legal and yet a mistake: fields
// that may be absent, and rules that can never match. All that it finds is a
// [compiler.Finding], with a place in an expression. An expression with an error takes the type
// dyn, so that what uses it is checked too. Without an error there is a [Policy].
//
// # Language
//
// A rule is over pod and job, with the whole schemas of both; attempt, the number of
// the pod at its index or slot, from 1; attempts, the earlier ones; node, the pod's node,
// if there is one; variables, by variables.NAME; and, when it is about pods that live,
// now. Match conditions are over job. Package compiler/cel says what a field is, and when
// it is absent, and adds its functions to the API server's CEL.
//
// # Bounds
//
// The static cost of an expression holds for pods and Jobs within the bounds that the
// constants declare (MaxContainers and those after it), of which no API field limits
// most. An expression that may cost more than compiler.CostLimit within them is refused,
// and so is a policy whose expressions may cost more than compiler.CostBudget together. The
// same two limits end an evaluation.
package custom
