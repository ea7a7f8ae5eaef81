// Package interop tests that the output of podverdict generate works unchanged with OPA, conftest and Gatekeeper. It is a
// separate module, because all three are built from their own sources.
package interop
