// Package custom compiles the expressions of a PodFailurePolicy (podverdict.io), tells
// their authors what is wrong with them, and evaluates them. It does no I/O and knows
// no cluster.
//
//	environment, err := custom.NewEnvironment(compiler.DefaultVersion)
//	policy, err := environment.Compile(&object.Spec)
//	applies, err := policy.Applies(ctx, job)
//	match, err := policy.Evaluate(ctx, custom.Input{Pod: pod, Job: job, Attempt: 1})
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
// environment of the chosen Kubernetes version, extended by the types of package
// schema, the functions of package library and the variables before it; estimates its
// cost within declared bounds; and looks for what is legal and yet a mistake: fields
// that may be absent, and rules that can never match. All that it finds is a
// [Finding], with a place in an expression. An expression with an error takes the type
// dyn, so that what uses it is checked too. Without an error there is a [Policy].
//
// # Language
//
// A rule is over pod and job, with the whole schemas of both; attempt, the number of
// the pod at its index or slot, from 1; variables, by variables.NAME; and, when it is
// about pods in phase Pending, now. Match conditions are over job. Package schema says
// what a field is, and when it is absent. What there is besides is the API server's
// CEL, and package library.
//
// # Evaluation
//
// Every expression can be evaluated in two ways, which always agree. Package native
// makes closures of what it knows; where these are undecided, because CEL has an error
// there or because the expression has something that they do not know, CEL's
// interpreter evaluates the whole expression over the same typed objects, with the API
// server's cost limit; package metered counts. Interpreters are planned when they are
// first needed. A variable is evaluated when it is first asked for, and once for a pod
// on each of the two ways.
//
// An error never picks an action, nor does an evaluation that was stopped; the Cause of
// an EvaluationError tells the two apart. With failurePolicy Ignore, the rule does not
// match, and Match has the first such error beside what the other rules say; with Fail,
// Evaluate returns it, and no match. A message that cannot be had never keeps a rule
// from matching. What a rule does, its budget and its
// delay, is the business of whoever asks: Match has the index of the rule.
//
// Explain evaluates the rules part by part on the interpreter, and says what each part
// is for the pod and for each of its containers.
//
// # Bounds
//
// The static cost of an expression holds for pods and Jobs within the bounds that the
// constants declare (MaxContainers and those after it), of which no API field limits
// most. An expression that may cost more than CostLimit within them is refused, and so
// is a policy whose expressions may cost more than CostBudget together. The same two
// limits end an evaluation on the interpreter, whatever the size of the pod and the Job:
// what it does is charged before it is done, in proportion to the time that it takes, so
// that the time until a limit is reached is bounded too. Closures count the elements and
// the text that they look at, and leave the rest to it after a fixed number.
package custom
