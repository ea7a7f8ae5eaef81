// Package apiserver checks admission policies as an API server would. It uses the server's
// own packages and needs no running server.
//
// Check and CheckMutation check whether a server of a given Kubernetes version accepts a
// policy, and check its expressions against the types of the kinds that it matches. Meter
// measures the cost of requests. Decider evaluates requests against a policy and its
// binding.
package apiserver
