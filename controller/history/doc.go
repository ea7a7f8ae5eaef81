// Package history records verdicts and finished Jobs, so that they remain known after the objects are deleted. It writes a line for
// the verdict on each failed Pod, and a line for each finished Job, to files in a directory (format: package internal/history).
//
// Callers never wait for the disk. One goroutine writes the lines of each half second, and syncs them to disk before it continues. A
// crash loses at most these lines, and may truncate the last line of a file, so each process starts a new file. If writing fails,
// lines are dropped and counted, and the next lines are written again.
//
// A controller that starts sees all existing objects again. It reads from the directory which Pods and Jobs have a line, and writes no
// second line for them, so the first verdict remains the only one. Lines that have been deleted, or that another replica has written
// to a different directory, are written again. Readers identify duplicates by UID.
package history
