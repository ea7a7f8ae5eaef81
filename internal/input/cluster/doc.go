// Package cluster reads Jobs, CronJobs and Pods from a cluster the way kubectl does: by type and name, label selector
// and namespace, with a kubeconfig and kubectl's connection flags.
//
//	targets, err := cluster.ParseTargets([]string{"job/demo"}, cluster.Job, cluster.Pod)
//	c, err := options.Connect("batch", agent) // options from kubectl's flags, namespace from -n
//	found, err := c.JobsWithPods(ctx, cluster.Query{Targets: targets})
//
// Pods are listed by their Job's selector, as in the Job controller. Package manifest then assigns them to Jobs by
// controller, else by label. The selectors that the API server generates match a single label, so they are combined: one
// list request finds the Pods of all Jobs of a namespace, or of the cluster with AllNamespaces. Lists are paged. The
// types are known, so no discovery is needed.
//
// Watch reports Pods that fail. It lists the Pods in phase Failed, then watches from that resource version. After a lost
// connection it resumes from the last version seen, so no failure is missed. If the API server no longer has that
// version (410 Gone), Watch lists again. The Pod's uid identifies Pods that already have a verdict.
//
// The package does not use cli-runtime's ConfigFlags, because they link kustomize and a discovery cache. clientcmd
// provides the same flags.
package cluster
