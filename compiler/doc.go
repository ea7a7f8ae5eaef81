// Package compiler turns a Job's podFailurePolicy into checked CEL, one
// expression a rule. It does no I/O and knows no cluster.
//
// A rule goes through the package in four types. Given
//
//   - action: FailJob
//     onExitCodes: {containerName: main, operator: In, values: [42]}
//
// NewPolicy defaults it, refuses what the API server would refuse, and keeps it as
// a [Rule] whose [Match] is
//
//	ExitCodes{Container: "main", Operator: "In", Values: []int32{42}}
//
// Environment.Compile writes the tree of
//
//	pod.?status.?containerStatuses.orValue([]).exists(c,
//	  c.?state.?terminated.?exitCode.orValue(0) != 0 && c.name == "main" &&
//	  c.state.terminated.exitCode in [42]) ||
//	pod.?status.?initContainerStatuses.orValue([]).exists(c, ...the same...)
//
// has it checked by the API server's own CEL environment of the chosen Kubernetes
// version, estimates its cost within declared bounds, and returns a
// [CompiledRule]. Source prints it. Package runtime evaluates it; nothing here does.
//
// Package custom does the same for the rules that people write in CEL themselves. Both
// kinds share an [Environment], with the types and functions of package compiler/cel.
//
// # Semantics
//
// The rules mean what matchPodFailurePolicy means (pkg/controller/job/
// pod_failure_policy.go of Kubernetes v1.37.2; KEP-3329, "JobSpec API" and
// "Evaluation"; KEP-3850 for FailIndex):
//
//   - containerStatuses are looked at before initContainerStatuses; ephemeral
//     containers never are, and neither are containers that are not terminated;
//   - exit code 0 matches nothing, NotIn included;
//   - a pod condition matches by type and status, both equal; one that is absent
//     does not match status False;
//   - rules with an unknown action or operator are skipped; with both selectors
//     only exit codes are consulted;
//   - FailIndex is skipped before Kubernetes 1.29, which turned
//     JobBackoffLimitPerIndex on.
//
// A rule that asks for more than a hundred different condition statuses, of which
// the API knows three, has no expression: Compile refuses it.
//
// # Design
//
// The tree is built, not parsed: parsing takes several times as long as all the
// rest (docs/performance.md), and the parser refuses the largest legal policy as
// one text. A test holds the tree equal to what the parser makes of its text.
//
// Types depend only on an expression's shape (everything but its literals), so the
// checker sees each common shape once per Environment.
package compiler
