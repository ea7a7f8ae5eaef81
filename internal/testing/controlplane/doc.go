// Package controlplane gives tests a real control plane: etcd and kube-apiserver, and
// kube-controller-manager, kube-scheduler and kwok for the tests that ask, as built by make
// control-plane.
//
//	func TestMain(m *testing.M) {
//		os.Exit(controlplane.Run(m)) //nolint:forbidigo // main of the tests
//	}
//
//	func TestDenied(t *testing.T) {
//		cluster := controlplane.Start(t, controlplane.ControllerManager)
//		client, err := kubernetes.NewForConfig(cluster.Config)
//		...
//		client.BatchV1().Jobs(cluster.Namespace(t)).Create(ctx, job, metav1.CreateOptions{})
//	}
//
// A package that hands m to another one's Main, as testscript.Main, gives it something whose
// Run calls ours.
//
// The first Start of a package starts the control plane, and later ones share it. Tests
// keep out of each other's way by their namespaces; what is not in a namespace, such as
// policies, they must name apart and limit to it.
//
// # Nothing stays behind
//
// A shell waits beside the test binary, whose only open pipe to it closes when the test binary ends: returned from Run, by
// os.Exit, a panic, its own -timeout, an interrupt or kill -9. Then the shell kills what was started and removes the files.
// Only a kill -9 of the shell itself, or of its process group, leaves processes running.
//
// # What runs
//
// RBAC authorizes, the admission plugins are the default ones of the version except for
// ServiceAccount, which would refuse pods until a controller manager has made the
// accounts, and writes are audited: see [Cluster.AuditLog]. There is no node. A test makes
// those that it needs.
//
// There is no kubelet either. Kwok stands in for it on nodes with [AnnotationNode]: pods
// run there until a test tells them to end, by annotations, and deleted pods end and go.
// Everywhere else a test writes the status of pods, and when it has bound pods to a node
// of its own, it deletes them with no grace period, or their namespace stays.
//
// # Faults
//
// [Cluster.Kill], [Cluster.Pause] and [Cluster.Resume] do to a component what happens to machines, and [Cluster.Compact] has
// etcd forget its past. A component that was killed comes back with [Start] or [Open]: etcd with its data, the API server at
// its address and with the users that it has. The control plane is the whole package's, so a test leaves it running.
package controlplane
