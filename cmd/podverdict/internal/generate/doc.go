// Package generate has the verbs that write what other tools enforce: an OPA bundle, admission policies, the objects of an
// installation.
package generate
