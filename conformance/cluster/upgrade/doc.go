// Package upgrade tests that a Job goes on when another version of the controller takes over halfway: Pods have failed and
// are counted, a budget is partly used, and Pods are running. It has only tests.
//
// TestBooks runs the first half with this version, and then changes its records to what other versions would leave.
// TestVersions runs the first half with the program of another commit, built from the repository's history:
//
//	make upgrade FROM=a44552d
//
// # What must hold
//
// The Job ends as it would have. No slot is run again after it has succeeded, no failure is counted twice or forgotten, and
// no budget allows more than it has. If the ledger cannot be read, budgets count as used up, and one event reports it.
//
// # What does not hold
//
// Commits before the condition podverdict.io/Ledger keep the ledger in an annotation, and ignore the condition. After a
// downgrade to one of these, a Job without indexes may rerun slots that had succeeded, and budgets start over until the later
// version takes over again.
//
// Commits before controller/plan/code.go cannot read the Pod names of this version. They recognize Pods of Indexed Jobs by
// their annotation, and number attempts from 1 again; they delete Pods of other Jobs. So downgrades to such commits are only
// tested with Indexed Jobs.
package upgrade
