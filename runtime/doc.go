// Package runtime says what a failed pod means for its Job: it evaluates compiled rules
// on the pod and returns a [Verdict]. It does no I/O and knows no cluster.
//
//	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
//	policy, err := compiler.NewPolicy(job.Spec.PodFailurePolicy)
//	compiled, err := environment.Compile(policy)
//	program := runtime.NewProgram(compiled)
//	verdict := program.Evaluate(ctx, pod)
//
// A [Program] is one ordered list of rules. [Join] puts the rules of PodFailurePolicies
// (podverdict.io) before and after those of the Job's own podFailurePolicy. Rules of both
// kinds are checked CEL, and are evaluated in the same way. Custom rules see the Job and
// the pod's attempt besides the pod, so a Program that has some is asked by Judge. Which
// policies are in force for a Job, package binding says. Budgets need to know what was
// before: a Verdict carries the rule's budget, and who counts the matches asks for UsedUp.
//
// # Evaluation
//
// The checked CEL of a rule is what decides. It can be evaluated in two ways, which always
// agree. Package closure makes Go closures of what it knows, which read the typed pod and
// allocate nothing: they know every rule of a podFailurePolicy whole. Where they are
// undecided, because CEL has an error there or because the expression has something that
// they do not know, CEL's interpreter evaluates the whole expression over the same typed
// objects; package metered charges what it does, in time linear in what it does. Plans for
// the interpreter take much memory, so they are made when they are needed. A pod is never
// converted to a map. Program.Interpreted sends every rule to the interpreter.
//
// Rules are tried in order. An error never picks an action: it means what no match means,
// and is carried in the Verdict. A rule of a custom policy that cannot be evaluated does
// not match, and the other rules are tried, if the policy's failurePolicy is Ignore; if it
// is Fail, the evaluation ends. A message that cannot be had never keeps a rule from
// matching.
//
// # Limits
//
// For one pod, an expression of a custom policy may cost compiler.CostLimit, and all
// expressions of a policy together compiler.CostBudget: then the interpreter stops,
// whatever the size of the pod and the Job. Closures count the elements and the text that
// they look at, and after a fixed number leave the evaluation to the interpreter. Those of
// a podFailurePolicy take time linear in the size of the pod, and evaluate pods of any
// size, as Kubernetes does.
// # Explanations
//
// Explain evaluates the same expressions on the interpreter once more, part by part, and
// for each container and condition on its own.
package runtime
