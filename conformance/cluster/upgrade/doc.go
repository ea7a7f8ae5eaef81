// Package upgrade holds that a Job goes on when another version of the controller takes it over: half of it is run, Pods have
// failed and are counted, a budget is partly used, and Pods are at work. It consists of tests.
//
// TestBooks has this version run the first half, and changes what it has written down to what other versions leave.
// TestVersions runs the first half by the program of another commit, which it builds from the history of the repository:
//
//	make upgrade FROM=a44552d
//
// # What must hold
//
// The Job ends as it would have. No slot is run again after it has succeeded, no failure is counted twice or forgotten, and no
// budget allows more than it has. When the ledger cannot be read, budgets count as used up, and an event tells so, once.
//
// # What does not hold
//
// Commits before the condition podverdict.io/Ledger keep the ledger in an annotation, and know of no other. When a Job goes
// back to one of these, a Job without indexes may run slots again that had succeeded, and budgets start over until the later
// version takes over again.
//
// Commits before controller/plan/code.go do not read the names that this version gives. They know Pods of Indexed Jobs by their
// annotation, and number attempts from 1 again. Pods of other Jobs they delete. The way back to such commits is therefore tried with
// Indexed Jobs.
package upgrade
