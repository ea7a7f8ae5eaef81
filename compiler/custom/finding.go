package custom

// Checks of Compile as named in its findings, in addition to those of package
// compiler.
const (
	// Errors: the policy does not compile.

	CheckLimit     = "policy-too-large"
	CheckSyntax    = "expression-syntax"
	CheckType      = "expression-type"
	CheckVariable  = "unknown-variable"
	CheckCycle     = "variable-cycle"
	CheckCost      = "expression-cost"
	CheckPlan      = "expression-plan"
	CheckConstruct = "object-construction"

	// Warnings: the policy compiles, but probably does not do what its author
	// intended.

	CheckGuard    = "unguarded-has"
	CheckAbsent   = "unguarded-field"
	CheckNever    = "never-matches"
	CheckDeadPart = "never-true"
	CheckAlways   = "always-matches"
	CheckWaiting  = "waiting-in-failed-rule"
)
