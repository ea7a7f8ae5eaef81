// Package config is the controller's installation. The folder is a kustomize base:
//
//	kubectl apply -k config
//
// and [Objects] returns the same objects to programs, optionally with another namespace or image:
//
//	objects, err := config.Objects(config.Options{Namespace: "batch-system"})
//
// The image has to be given. The base names one in the domain .invalid, so that an installation without an overlay fails at
// the node, with a name that says why, and never runs somebody else's image.
//
// There are three ClusterRoles. An overlay grants less by leaving one out or by binding it in one namespace, not by editing
// lists of rules: see components/observe-only and components/namespaced. It grants more by a fourth: components/nodes.
//
// An overlay can change everything that an option changes: the files are complete, not templates. The templates of the Helm
// chart (charts/podverdict) read copies of these files and apply the chart's values; go -C charts generate makes the copies.
package config
