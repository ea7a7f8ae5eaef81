// Package generators creates policies, pods and Jobs for comparing engines: random ones ([Pairs], [Jobs]), all of a small
// space ([SmallScope]), and policies of a known size for benchmarks ([Sizes]).
//
//	pairs := generators.NewPairs(seed, true)
//	for range 1_000_000 {
//		policy, pod := pairs.Policy(), pairs.Pod()
//	}
//
// The same seed gives the same results. A hostile generator also creates objects that the API server would reject or that
// no kubelet writes: engines must agree on these, too.
package generators
