// Package closure compiles checked expressions to Go closures that read the typed pod without allocating, except to concatenate
// strings.
//
//	pod.failedContainers().exists(c, c.exitCode in [1, 2]) && job.spec.template.spec.hostNetwork
//
// becomes a loop over the pod's container statuses that looks up the exit code in a bit set, combined with a selection by the
// indexes of struct fields.
//
// # Semantics
//
// A closure never returns an error. Where CEL has an error, or where this package does not support a part of the expression, the
// closure is [Undecided], and the caller evaluates the whole expression with CEL's interpreter. Undecided propagates through &&,
// ||, exists and all like CEL's errors: it disappears if the other side decides. So an unsupported part costs nothing on pods for
// which the rest decides, and the closures agree with the interpreter: both follow from commutativity of && and || in the
// presence of errors (cel-spec, "Logical Operators").
//
// An expression that searches the pod's status for an element, as in podFailurePolicy, is compiled to [Expression.Find]: it
// returns that element, and always decides. All comparisons of the exit code in its predicate become one set of numbers, and all
// comparisons of conditions one table.
//
// The package supports literals; &&, ||, !, ?: and comparisons; in with a list of literals, a map of strings or waitingReasons();
// the functions of compiler/cel and the fields of its types; exists, exists_one, all, filter, size and indexing on lists of that
// library and on the container statuses and conditions of the pod's status; selection and presence of fields of pod, job and
// node, also with optionals; startsWith, endsWith, contains and matches; concatenation of strings by +; variables.
package closure
