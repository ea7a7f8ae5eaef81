// Package simulate is the verb that simulates the whole life of a Job or JobSet, and prints its timeline.
package simulate
