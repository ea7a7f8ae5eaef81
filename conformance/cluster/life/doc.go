// Package life plays the lives of package lives with two Job controllers on a real control plane: that of
// kube-controller-manager, and podverdict's, which gets the same Jobs by spec.managedBy. It has only tests.
//
// Both controllers are compared with expected data, not with each other, so that a third one can be tested, too. The data was
// recorded from kube-controller-manager, and is recorded again by
//
//	go test -tags cluster ./conformance/cluster/life -update
//
// which only runs kube-controller-manager, and rewrites the checkpoints at which it differs from the files. Review these
// changes: a person has to agree that the new behaviour is right.
//
// A life mostly waits for the delays of the controllers. So many lives are played at the same time, each in its own
// namespace; -parallel says how many.
package life
