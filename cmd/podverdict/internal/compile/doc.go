// Package compile implements the compile command, which prints the CEL of podFailurePolicies and
// custom policies.
package compile
