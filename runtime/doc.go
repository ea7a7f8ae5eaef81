// Package runtime says what a failed pod means for its Job: it evaluates a
// compiled policy on the pod and returns a [Verdict]. It does no I/O and knows no
// cluster.
//
//	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
//	policy, err := compiler.NewPolicy(job.Spec.PodFailurePolicy)
//	compiled, err := environment.Compile(policy)
//	program, err := runtime.NewProgram(compiled, runtime.Options{})
//	verdict := program.Evaluate(ctx, pod)
//
// A [Program] has two ways to evaluate a rule, which always agree. The
// expressions that the compiler writes are recognized in the checked tree and
// answered by nodes of ours, which read the typed pod and allocate nothing. All
// others run on CEL's interpreter over the same typed pod, with the API server's
// cost limit and an interrupt check. The pod is never converted to a map.
// Options.DisableSpecialization sends every rule to the interpreter.
//
// Evaluate tries the rules in order, in a loop over one program a rule, so that an
// error and a cost belong to a rule. An error never picks an action: it means what
// no match means, and is carried in the Verdict. After a rule of a custom policy with
// failurePolicy Ignore, the other rules are tried, and their Verdict carries the error.
//
// # Custom policies
//
// [Join] puts the rules of PodFailurePolicies (podverdict.io) before and after those of
// the Job's own podFailurePolicy: one ordered list, one Program, one Verdict. Their
// expressions are compiled and evaluated by package custom, and see the Job and the
// pod's attempt besides the pod, so such a Program is asked by Judge. Which policies
// are in force for a Job, package binding says. Budgets need to know what was before:
// a Verdict carries the rule's budget, and who counts the matches asks for UsedUp.
//
// Explain evaluates the same expressions on the interpreter once more, with the
// values of sub-expressions, for each container and condition on its own.
//
// # Design
//
// A node stands for a whole rule. CEL's program decorators could put it in for a
// part of one, but a podFailurePolicy has no such rules; what is recognized needs
// no plan at all, which is most of what planning costs.
//
// Nodes answer for pods of any size, also for those beyond the bounds within which
// the compiler estimates a rule's cost: their time is linear in the pod, while the
// interpreter's is quadratic once it tracks the cost, and ends in an error where
// Kubernetes has an answer. The bounds and the limit say what the text costs in an
// API server.
package runtime
