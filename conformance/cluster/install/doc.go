// Package install puts the controller into a real cluster, as podverdict generate install has it, and runs it there as
// processes, with the permissions of its service account and no other: all of it is tests.
//
// There are no nodes, so the processes run beside the control plane. They have the arguments of the Deployment and a token of
// its service account, and call the API server through a proxy that notes every call: what the roles grant is held to what
// is used. The tests play the kubelet.
package install
