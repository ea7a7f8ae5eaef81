// Package runtime decides what a failed pod means for its Job: it evaluates compiled rules on the pod and returns a
// [Verdict]. It does no I/O.
//
//	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
//	policy, err := compiler.NewPolicy(job.Spec.PodFailurePolicy)
//	compiled, err := environment.Compile(policy)
//	program := runtime.NewProgram(compiled)
//	verdict := program.Evaluate(ctx, pod)
//
// A [Program] is one ordered list of rules. [Join] puts the rules of PodFailurePolicies (podverdict.io) before and after
// those of the Job's own podFailurePolicy. Rules of both kinds are checked CEL, and are evaluated in the same way. Custom
// rules may also read the Job and the pod's attempt number, so a Program with custom rules is evaluated by Judge. Package
// binding decides which policies are in effect for a Job. Budgets depend on earlier matches: a Verdict carries the rule's
// budget, and the caller counts the matches and calls UsedUp.
//
// # Evaluation
//
// The checked CEL of a rule decides. It can be evaluated in two ways, which always agree. Package closure compiles CEL to Go
// closures, which read the typed pod without allocating. They can express every rule of a podFailurePolicy. If they are
// undecided, because CEL has an error there or because they do not support a part of the expression, CEL's interpreter
// evaluates the whole expression over the same typed objects, and package metered limits its cost. Plans for the interpreter
// take much memory, so they are created on first use. A pod is never converted to a map. Program.Interpreted uses the
// interpreter for every rule.
//
// Rules are tried in order. An error never picks an action: it counts as no match, and the Verdict carries it. If a rule of a
// custom policy has an error, it does not match. The next rules are tried if the policy's failurePolicy is Ignore; the
// evaluation ends if it is Fail. A rule with an error in its message still matches.
//
// # Limits
//
// For one pod, an expression of a custom policy may cost compiler.CostLimit, and all expressions of a policy together
// compiler.CostBudget. The interpreter then stops, regardless of the size of the pod and the Job. Closures count the elements
// and the text that they read, and leave the evaluation to the interpreter after a fixed number. The closures of a
// podFailurePolicy take time linear in the size of the pod, and evaluate pods of any size, as Kubernetes does.
//
// # Explanations
//
// Explain evaluates the same expressions again with the interpreter, part by part, and separately for each container and
// condition.
package runtime
