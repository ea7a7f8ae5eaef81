// Package race says whether the race detector is on. Tests run with it because of what goroutines share: whatever has one
// goroutine, or other processes, takes many times as long and shows nothing.
package race
