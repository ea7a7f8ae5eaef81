// Package evidence aggregates the failures of Jobs' Pods: how often and where they failed, how many hours of CPU, memory and other
// resources they cost, and how policies handled or would have handled them.
//
// Package gathering groups each Job with its Pods. Such a family becomes an Outcome, whose Attempts are the Pods that have ended. A Fold
// aggregates Outcomes. Merging Folds yields the same bytes in any order and grouping, so parts of the input can be counted on different
// machines.
//
// Hours are exact: they are sums of milliseconds times thousandths of a unit, in 128-bit integers.
package evidence
