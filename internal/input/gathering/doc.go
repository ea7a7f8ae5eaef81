// Package gathering groups the Jobs and Pods of an input by Job, for input of any length and order.
//
//	g, err := gathering.Read(ctx, options, fields, progress)
//	defer g.Close()
//	for family, err := range g.Families() { ... }
//
// Records are sorted by the namespace and name of their Job: the Job precedes its Pods, and Pods are sorted by end time, then by
// name. Short input is sorted in memory. For longer input, sorted runs are written to a temporary file and merged, so that memory
// holds only one buffer, a block of each run, and the Pods of one Job.
package gathering
