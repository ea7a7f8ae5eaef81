// Package config is the controller's installation. The folder is a kustomize base:
//
//	kubectl apply -k config
//
// and [Objects] are the same for programs, with another namespace or image on demand:
//
//	objects, err := config.Objects(config.Options{Namespace: "batch-system"})
//
// The image has to be given: the base names one of the domain .invalid, so that an installation without an overlay fails at the
// node with a name that says why, and never runs what somebody else has published.
//
// There are three ClusterRoles, so that an overlay grants less by leaving out or by binding in one namespace, and never by
// editing a list of rules: components/observe-only and components/namespaced do.
//
// An overlay can change everything that an option changes: the files stand for themselves, and there is no template. The templates of
// the Helm chart (charts/podverdict) read copies of these files, and change what its values say; go -C charts generate makes the copies.
package config
