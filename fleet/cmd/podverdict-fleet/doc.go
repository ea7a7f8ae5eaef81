// Podverdict-fleet sums up how the Pods of many Jobs have failed, as podverdict report does, on the runners of Apache Beam.
package main
