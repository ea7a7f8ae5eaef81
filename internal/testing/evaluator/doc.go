// Package evaluator answers admission requests like an API server with a policy, using the server's own packages but no
// server. Only tests link it: the API server's admission plugins import its clients for every group.
package evaluator
