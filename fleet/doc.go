// Package fleet is podverdict report as a pipeline of Apache Beam, for more Jobs and Pods than one machine should read.
//
// Shards are files of Jobs and Pods as podverdict report reads them. Their records are grouped by the Key of package evidence,
// whatever shard they are in; each group becomes Outcomes, and a CombineFn sums these up in a Fold. The Report has the same bytes
// as that of podverdict report -o json on the same files, whatever the number and the order of the shards.
//
// Register must have been called before beam.Init, in the program that makes the pipeline and on workers.
package fleet
