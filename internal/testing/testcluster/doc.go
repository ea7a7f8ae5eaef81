// Package testcluster provides tests with the environment of a control plane: clients, custom policies, Jobs, events, and
// the kubelets of nodes.
//
//	world := testcluster.Start(t, controlplane.ControllerManager)
//	testcluster.PlayKubelet(t, world.Client, world.Namespace, func(pod *corev1.Pod) (code int32, ends bool) { return 0, true })
//	world.CreateJob(t, world.Namespace, testcluster.ManagedJob("train", nil))
//	job, end := world.UntilFinished(t, world.Namespace, "train")
//
// There are no nodes: PlayKubelet ends the Pods of a namespace, and PlayNode adds a node whose containers follow a
// script.
//
// RunController runs podverdict's controller in the test's process. Apply installs it like podverdict generate install:
// its objects, its service account with the roles and no other permission, and replicas that run as processes next to the
// control plane, with the arguments of the Deployment.
//
//	installation := testcluster.Apply(t, world, config.Options{})
//	replica := installation.Start(t, installation.Kubeconfig(t), nil)
package testcluster
