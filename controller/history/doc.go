// Package history keeps what the controller has seen after it is gone: a line for the verdict on each Pod that failed, and one for
// each Job that has finished, in files of a directory (form: package internal/history).
//
// Nothing waits for the disk. One goroutine writes what has come in half a second, and has the disk keep it before it takes more. A
// crash loses that at most, and may cut off the last line of a file, so a process begins a file of its own. If the disk takes
// nothing, lines are dropped and counted, and it is tried again with the next ones.
//
// A controller that starts sees again all that is still in the cluster. It reads in the directory which Pods and Jobs have a line, and
// writes none twice, so the verdict that was given first stays the only one. Lines that are gone, or that another replica has
// elsewhere, are written again: readers tell by the UID.
package history
