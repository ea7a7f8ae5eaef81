// Podverdict-fleet reports how the Pods of many Jobs failed, as podverdict report does, on the runners of Apache
// Beam.
package main
