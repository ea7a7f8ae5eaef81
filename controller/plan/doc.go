// Package plan decides what to do next for a Job. (stub: the model follows)
package plan
