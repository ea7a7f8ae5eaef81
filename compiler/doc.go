// Package compiler compiles a Job's podFailurePolicy to checked CEL, with one
// expression per rule. It does no I/O and needs no cluster.
//
// A rule passes through the package in four types. Given
//
//   - action: FailJob
//     onExitCodes: {containerName: main, operator: In, values: [42]}
//
// NewPolicy sets defaults, rejects what the API server would reject, and returns a
// [Rule] whose [Match] is
//
//	ExitCodes{Container: "main", Operator: "In", Values: []int32{42}}
//
// Environment.Compile generates the syntax tree of
//
//	pod.?status.?containerStatuses.orValue([]).exists(c,
//	  c.?state.?terminated.?exitCode.orValue(0) != 0 && c.name == "main" &&
//	  c.state.terminated.exitCode in [42]) ||
//	pod.?status.?initContainerStatuses.orValue([]).exists(c, ...the same...)
//
// type-checks it with the API server's own CEL environment for the chosen Kubernetes
// version, estimates its cost within declared bounds, and returns a [CompiledRule].
// Source prints it. Package runtime evaluates it; this package evaluates nothing.
//
// Package custom does the same for rules that users write in CEL. Both kinds of rules
// share an [Environment], with the types and functions of package compiler/cel.
//
// # Semantics
//
// The rules have the semantics of matchPodFailurePolicy
// (pkg/controller/job/pod_failure_policy.go of Kubernetes v1.37.2; KEP-3329, "JobSpec
// API" and "Evaluation"; KEP-3850 for FailIndex):
//
//   - containerStatuses are examined before initContainerStatuses; ephemeral
//     containers and containers that are not terminated are never examined;
//   - exit code 0 never matches, not even with NotIn;
//   - a pod condition matches if type and status are equal; an absent condition
//     does not match status False;
//   - rules with an unknown action or operator are skipped; in a rule with both
//     selectors only exit codes are consulted;
//   - FailIndex is skipped before Kubernetes 1.29, which enabled
//     JobBackoffLimitPerIndex by default.
//
// Compile rejects a rule with more than a hundred different condition statuses. The
// API knows three.
//
// # Design
//
// The tree is built, not parsed: parsing takes several times as long as everything
// else (docs/performance.md), and the parser rejects the largest valid policy as a
// single text. A test checks that the tree equals the parser's result for its text.
//
// Types depend only on an expression's shape (everything but its literals), so the
// checker checks each common shape once per Environment.
package compiler
