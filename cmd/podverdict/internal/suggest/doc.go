// Package suggest is the verb that suggests rules from how Pods have failed.
package suggest
