// Package controlplane provides tests with a real control plane: etcd and kube-apiserver, and on request
// kube-controller-manager, kube-scheduler and kwok, as built by make control-plane.
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
// A package that passes m to another package's Main, such as testscript.Main, passes a value whose Run calls ours.
//
// The first Start of a package starts the control plane, and later ones share it. Tests are separated by their
// namespaces. They must give cluster-scoped objects, such as policies, distinct names and limit them to their namespace.
//
// # Cleanup
//
// A shell runs next to the test binary. Its only open pipe to it closes when the test binary ends: by returning from Run,
// by os.Exit, a panic, its own -timeout, an interrupt or kill -9. Then the shell kills the started processes and removes
// the files. Only a kill -9 of the shell itself, or of its process group, leaves processes running.
//
// # Configuration
//
// RBAC authorizes requests. The admission plugins are the version's defaults except for ServiceAccount, which would
// reject pods until a controller manager has created the accounts. Writes are audited: see [Cluster.AuditLog]. There are
// no nodes; a test creates those that it needs.
//
// There is no kubelet either. Kwok replaces it on nodes with [AnnotationNode]: pods run there until a test ends them with
// annotations, and deleted pods end and disappear. Everywhere else a test writes the status of pods. If it has bound pods
// to its own node, it must delete them without a grace period, or their namespace remains.
//
// # Faults
//
// [Cluster.Kill], [Cluster.Pause] and [Cluster.Resume] simulate machine faults for a component, and [Cluster.Compact]
// makes etcd forget its history. A killed component comes back with [Start] or [Open]: etcd with its data, the API server
// at its address and with its users. The whole package shares the control plane, so a test must leave it running.
package controlplane
