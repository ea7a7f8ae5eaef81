// Package gathering brings the Jobs and Pods of an input together by Job, however long the input is and whatever its order.
//
//	g := gathering.New("")
//	defer g.Close()
//	set, err := gathering.Read(ctx, files, g, nil)
//	for family, err := range g.Families() { ... }
//
// Records lie in 256 partitions by a hash of their Key: in memory while they are few, else compressed in one temporary file. A
// family is decoded when its turn comes, so that memory is that of a partition's bytes and of the largest family.
package gathering
