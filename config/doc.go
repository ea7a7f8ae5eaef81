// Package config is the controller's installation. The folder is a kustomize base:
//
//	kubectl apply -k config
//
// and [Objects] are the same for programs, with another namespace or image on demand:
//
//	objects, err := config.Objects(config.Options{Namespace: "batch-system"})
//
// What an option changes, an overlay changes in the same way: the files stand for themselves, and there is no template.
package config
