// Package admission implements the admission command, which compares generated admission policies
// with a cluster.
package admission
