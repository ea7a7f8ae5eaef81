// Package apiserver answers as an API server would that is given an admission policy, by
// the server's own packages and without a server.
//
// Check and CheckMutation hold a policy to what a server of some Kubernetes version
// accepts, and its expressions to the types of the kinds that it matches. Meter says what
// requests are charged for. What a server decides about them says package evaluator below.
package apiserver
