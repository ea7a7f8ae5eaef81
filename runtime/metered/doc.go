// Package metered evaluates expressions on CEL's interpreter and charges what they do,
// in the API server's units, in time linear in what they do.
//
// CEL has a cost tracker of its own. It looks for the arguments of each call on a
// stack that grows with the iterations of loops, so that a loop over a list takes time
// quadratic in the list, long before it reaches a cost limit; and it charges a call
// after it was made, whatever the call took. Here each step that is evaluated is
// charged when it is evaluated, and a call is charged when its last argument is
// known, before it is made: no call takes longer than its price allows.
//
//	program, err := metered.Plan(env, tree)
//	value, spent, err := program.Eval(ctx, names, limit)
//
// # How
//
// Plan has the API server's environment plan the expression, and decorates each node
// of the plan: one that selects from a variable has the price of the selection, and
// one that is an argument of a call keeps its value where the call's price finds it.
// Eval runs the plan in a frame without CEL's tracker, which is what the nodes that CEL
// itself puts around ours do not mind.
//
// CEL's own optimizations do not see through our nodes. Plan applies the one that
// counts, that regular expressions which are literals are compiled once.
package metered
