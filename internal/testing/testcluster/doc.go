// Package testcluster gives tests the controller as podverdict generate install puts it into a cluster: its objects, its
// service account with the roles and no other permission, and replicas that run as processes beside the control plane, with
// the arguments of the Deployment.
//
//	installation := installed.Apply(t, cluster, config.Options{})
//	replica := installation.Start(t, installation.Kubeconfig(t))
//	installed.PlayKubelet(t, client, namespace, func(pod *corev1.Pod) (code int32, ends bool) { return 0, true })
//
// There are no nodes: PlayKubelet ends the Pods of a namespace as a test says.
package testcluster
