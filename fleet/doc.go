// Package fleet implements podverdict report as a pipeline of Apache Beam, for more Jobs and Pods than one machine
// should read.
//
// Shards are files of Jobs and Pods in the formats that podverdict report reads. The pipeline groups their records by
// the Key of package evidence, across shards; each group becomes Outcomes, and a CombineFn sums these up in a Fold.
// The Report is identical, byte for byte, to the output of podverdict report -o json on the same files, whatever the
// number and order of shards.
//
// The program that builds the pipeline and every worker must call Register before beam.Init.
package fleet
