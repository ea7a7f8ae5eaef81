// Package closure turns checked expressions into Go closures that read the typed pod
// and allocate nothing, unless they put strings together.
//
//	pod.failedContainers().exists(c, c.exitCode in [1, 2]) && job.spec.template.spec.hostNetwork
//
// becomes a loop over the pod's container statuses that looks the exit code up in a
// set of bits, joined with a selection by the numbers of struct fields.
//
// # Semantics
//
// A closure never errs. Where CEL would have an error, or where the expression has
// something that this package does not know, the closure is [Undecided], and the
// caller asks CEL's interpreter for the whole expression. Undecided goes through &&
// and ||, exists and all as CEL's errors do: it is lost where the other side decides.
// So a part that is not known costs nothing on pods for which the rest decides, and
// what the fast path decides is what the interpreter says: both follow from
// commutativity of && and || in the presence of errors (cel-spec, "Logical
// Operators").
//
// An expression that asks whether the pod's status has an element of some kind, as those
// of podFailurePolicy do, is a [Expression.Find] as well: it says which element it is, and
// always decides. Of its predicate, what is asked of the exit code is put together into one
// set of numbers, and what is asked of conditions into one table.
//
// The package knows literals; &&, ||, !, ?:, comparisons; in, of a list of literals, a map
// of strings or waitingReasons(); the functions of package library and the fields of
// its types; exists, exists_one, all, filter, size and indices of their lists, and of the
// container statuses and conditions of the pod's status;
// selection and presence of fields of pod and job, by way of optionals too;
// startsWith, endsWith, contains and matches; strings put together by +; variables.
package closure
