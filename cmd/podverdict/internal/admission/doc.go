// Package admission is the verb that compares generated admission policies with a cluster.
package admission
