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
// answered by nodes of ours, which read the typed pod and allocate nothing. The
// others, and all rules when the pod is larger than the bounds within which a
// rule's cost was estimated, run on CEL's interpreter over the same typed pod,
// with the API server's cost limit and an interrupt check. The pod is never
// converted to a map.
//
// Evaluate tries the rules in order, in a loop over one program a rule, so that an
// error and a cost belong to a rule. An error never picks an action: it means what
// no match means, and is carried in the Verdict.
//
// Explain evaluates the same expressions once more, with the values of
// sub-expressions, for each container and condition on its own.
package runtime
