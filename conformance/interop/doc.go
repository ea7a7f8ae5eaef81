// Package interop shows that what podverdict generates works with OPA, conftest and Gatekeeper as their users have them,
// with no glue. It is a module of its own because all three are built from theirs.
package interop
