// Package compile is the verb that shows the CEL of podFailurePolicies and custom policies.
package compile
