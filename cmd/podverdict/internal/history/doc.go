// Package history is the verb that writes what is to be kept of Jobs and their Pods.
package history
