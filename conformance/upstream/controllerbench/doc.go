// Package controllerbench measures Job controllers against each other: the controller of package controller and
// kube-controller-manager's own, of k8s.io/kubernetes v1.37.2, each in this process, on the same API server, with the same
// limit of calls.
//
//	comparison := controllerbench.Comparison{
//		Config: cluster.Config, Peer: controllerbench.Upstream(), Own: controllerbench.Podverdict(), Limit: controllerbench.DefaultLimit,
//		Sizes: []int{10, 100, 1000}, Shapes: []controllerbench.Shape{controllerbench.Succeed(), controllerbench.Fail()},
//	}
//	table, err := comparison.Run(ctx)
//
// The Jobs are those of BenchmarkLargeIndexedJob and BenchmarkLargeFailureHandling in upstream's test/integration/job, which
// the KEP for backoffLimitPerIndex (KEP-3850) was measured with, and so are QPS and burst of 100 and the back-off of 100 ms.
// Jobs that fail also have a podFailurePolicy, of which no rule matches.
//
// # A trial
//
// A [Trial] is one Job in a namespace of its own. It has phases: all pods are created; in a failing Job all of them fail at
// once and are replaced; all pods end; the last finalizer is removed. A client without limits plays the kubelet. Each phase
// but the last begins when the controller has made no calls for so long that it could make a burst again. So a phase depends
// on the controller and not on what was before it, which upstream's benchmarks leave to chance. Calls after a phase's
// milestone belong to that phase. Where several phases are added up, the sum includes the time until their last calls, but
// not the rest between them.
// Times are taken where a client of the API server sees them. Calls are counted at the transport, below the rate limiter.
// Upstream sends events through the same limiter, podverdict does not; both send a few for each Job. They are counted apart,
// and so are the lists and watches of the caches.
package controllerbench
