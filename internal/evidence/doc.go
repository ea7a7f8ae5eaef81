// Package evidence sums up how the Pods of Jobs have failed: how often, where, for how many hours of CPU, memory and other
// resources, and what policies made or would have made of it.
//
// Package gathering brings each Job and its Pods together. They become an Outcome, whose Attempts are the Pods that have ended. A Fold sums up Outcomes.
// Two Folds merge into one, in any order and grouping, with the same result to the byte: so the parts may be counted on many
// machines.
//
// Hours are exact: sums of milliseconds times thousandths of a unit, in integers of 128 bits.
package evidence
