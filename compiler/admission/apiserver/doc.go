// Package apiserver answers as an API server would that is given an admission policy, by
// the server's own packages and without a server.
//
// Check and CheckMutation hold a policy to what a server of some Kubernetes version
// accepts, and its expressions to the types of the kinds that it matches. Evaluator puts
// requests to a policy: Evaluate decides on them, and Cost says what they are charged for.
package apiserver
