// Package install installs the controller into a real cluster with the objects of podverdict generate install, and tests it there. It
// has only tests.
//
// There are no nodes, so replicas run as processes next to the control plane, with the Deployment's arguments and a token
// of its service account. The tests act as the kubelet.
//
// In TestInstallation, the replicas call the API server through a proxy that records every call. The test compares the
// permissions granted by the roles with the permissions used.
//
// TestCustomPolicies runs the controller in its own process, from before the kinds of custom policies are installed until
// after they are removed, while policies change, break and are repaired, and the controller restarts.
//
// # Upgrades
//
// A Job continues when another version of the controller takes over halfway: Pods have failed and are counted, a budget
// is partly used, and Pods are running. TestBooks runs the first half with this version, and then changes its records to
// those that other versions would leave. TestVersions runs the first half with the program of another commit, built from
// the repository's history:
//
//	make upgrade FROM=a44552d
//
// The Job must end as it would have without the handover. No slot runs again after it has succeeded, no failure is
// counted twice or forgotten, and no budget allows more matches than its limit. If the ledger cannot be read, budgets
// count as used up, and one event reports it.
//
// There are two exceptions. Commits before the condition podverdict.io/Ledger keep the ledger in an annotation, and
// ignore the condition. After a downgrade to one of these, a Job without indexes may rerun slots that had succeeded, and
// budgets start over until the later version takes over again.
//
// Commits before controller/plan/code.go cannot read the Pod names of this version. They recognize Pods of Indexed Jobs
// by their annotation, and number attempts from 1 again; they delete Pods of other Jobs. So downgrades to such commits
// are only tested with Indexed Jobs.
package install
