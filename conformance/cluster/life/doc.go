// Package life plays the lives of package lives with two Job controllers on a real control plane: the one of
// kube-controller-manager, and ours, to which spec.managedBy gives the same Jobs. All of it is tests.
//
// What is expected is data, so that neither controller is the judge of the other, and any third one can be held to it. It
// was recorded from kube-controller-manager, and is recorded again by
//
//	go test -tags cluster ./conformance/cluster/life -update
//
// which plays only the part of kube-controller-manager, and rewrites the checkpoints at which it differs from the files.
// Read the difference: the expectation is what Kubernetes does only as long as a person agrees.
//
// A life is mostly waiting, for the seconds by which both controllers put off their work. So many are played at the same
// time, each in a namespace of its own; -parallel says how many.
package life
