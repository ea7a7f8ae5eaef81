// Package config is the controller's installation. The folder is a kustomize base:
//
//	kubectl apply -k config
//
// and [Objects] returns the same objects to programs, optionally with another namespace or image:
//
//	objects, err := config.Objects(config.Options{Namespace: "batch-system"})
//
// The image must be set. The base names an image in the domain .invalid, so that an installation without an overlay
// fails at the node with a name that explains the failure, and never runs an unrelated image.
//
// The base has three ClusterRoles. An overlay grants less by omitting one or by binding it in one namespace, without
// editing lists of rules: see components/observe-only and components/namespaced. The component components/nodes adds
// a fourth.
//
// An overlay can change everything that an option changes, because the files are complete and not templates. The
// templates of the Helm chart (charts/podverdict) read copies of these files and apply the chart's values; go -C
// charts generate makes the copies.
package config
