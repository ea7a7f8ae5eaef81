// Package evaluator answers admission requests as an API server would that has a policy, by
// the server's own packages and without a server. Only tests link it: the API server's
// admission plugins bring its clients of every group with them.
package evaluator
