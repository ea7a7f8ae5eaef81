// Package metered evaluates expressions with CEL's interpreter and limits their cost, in the API server's units. Counting the
// cost takes linear time.
//
// CEL's own cost tracker searches for the arguments of each call on a stack that grows with the iterations of loops, so that
// a loop over a list takes time quadratic in its length, long before it reaches a cost limit. It also charges a call only
// after it was made. Here each step is charged when it is evaluated, and a call is charged before it is made, when its last
// argument is known: no call takes longer than its price allows.
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
