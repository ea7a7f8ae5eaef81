// Package simulate implements the simulate command, which simulates the whole life of a Job or JobSet and
// prints its timeline.
package simulate
