// Package install installs the controller into a real cluster with the objects of podverdict generate install, and runs it
// there as processes, with just the permissions of its service account. It has only tests.
//
// There are no nodes, so the processes run beside the control plane. They get the Deployment's arguments and a token of its
// service account, and call the API server through a proxy that records every call: the tests compare what the roles grant
// with what is used. The tests play the kubelet.
package install
