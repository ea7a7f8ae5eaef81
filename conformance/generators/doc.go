// Package generators makes policies, pods and Jobs on which engines can be compared:
// random ones ([Pairs], [Jobs]), all of a small space ([SmallScope]), and policies of a
// known size for benchmarks ([Sizes]).
//
//	pairs := generators.NewPairs(seed, true)
//	for range 1_000_000 {
//		policy, pod := pairs.Policy(), pairs.Pod()
//	}
//
// The same seed makes the same draws. A hostile generator also draws what the API server
// would refuse and what no kubelet writes: engines must agree on it too.
package generators
