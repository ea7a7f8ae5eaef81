// Package generate implements the commands that write an OPA bundle, admission policies, and the objects of an
// installation.
package generate
