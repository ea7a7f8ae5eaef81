// Package metered evaluates expressions with CEL's interpreter and limits their cost, in the API server's units. Counting the
// cost takes linear time.
//
// CEL's own cost tracker searches for the arguments of each call on a stack that grows with the iterations of loops. A loop
// over a list therefore takes time quadratic in its length, long before it reaches a cost limit. The tracker also charges a
// call only after it was made. This package charges each step when it is evaluated, and each call before it is made, when its
// last argument is known, so that no call takes longer than its price allows.
//
//	program, err := metered.Plan(env, tree)
//	value, spent, err := program.Eval(ctx, names, limit)
//
// # How
//
// Plan lets the API server's environment plan the expression, and decorates each node of the plan: a node that selects from a
// variable charges for the selection, and an argument of a call stores its value for computing the call's price. Eval runs
// the plan without CEL's tracker.
//
// CEL's own optimizations do not recognize the decorated nodes. Plan applies the important one itself: literal regular
// expressions are compiled once.
package metered
