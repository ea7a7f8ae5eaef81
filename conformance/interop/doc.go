// Package interop shows that the bundles which podverdict generates work with OPA and conftest as their users have
// them, with no glue. It is a module of its own because both tools are built from theirs.
package interop
