// Package cluster reads Jobs, CronJobs and Pods from a cluster, as kubectl does: by type and name, label selector and
// namespace, through a kubeconfig and kubectl's connection flags.
//
//	targets, err := cluster.ParseTargets([]string{"job/demo"}, cluster.Job, cluster.Pod)
//	c, err := options.Connect("batch", agent) // of kubectl's flags; the namespace of -n
//	found, err := c.Families(ctx, cluster.Query{Targets: targets})
//
// Pods are looked for by the selector of their Job, which is what the Job controller goes by, and then belong to Jobs as
// the manifest package has it: by controller, else by label. Jobs whose selectors ask one label for one value, as those
// do that the API server generates, are asked for together: one list finds the Pods of all Jobs of a namespace, or with
// AllNamespaces of the cluster. Lists come in pages. No discovery is needed: the types are known.
//
// Watch follows the Pods that fail. It lists those in phase Failed, then watches for more from that resource version on,
// and after a lost connection goes on from the last one seen, so that no failure is missed. Where the API server has
// forgotten that version (410 Gone), it lists again. A Pod's uid tells whether its verdict was given already.
//
// cli-runtime's ConfigFlags are not used: they link kustomize and a discovery cache. clientcmd has the same flags.
package cluster
