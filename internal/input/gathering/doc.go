// Package gathering groups the Jobs and Pods of an input by Job, however long the input is and whatever its order.
//
//	g, err := gathering.Read(ctx, options, fields, progress)
//	defer g.Close()
//	for family, err := range g.Families() { ... }
//
// Records are sorted by the Job that they belong to: by its namespace and name, the Job before its Pods, and the Pods by the time at
// which they ended and by name. Short inputs are sorted in memory. Of longer ones, sorted runs are written to a temporary file and
// merged, so that memory holds one buffer, a block of each run, and the Pods of one Job.
package gathering
