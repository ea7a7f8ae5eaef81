// Package uninstall takes the controller out of a cluster, and lets go of Pods that wait for one which is gone.
//
//	client, err := uninstall.NewClient(config)
//	found, err := client.Find(ctx, "podverdict-system", true) // with the kinds of custom policies
//	result := client.Remove(ctx, found)
//
// # Why Pods have to be let go
//
// The controller gives its Pods the finalizer batch.kubernetes.io/job-tracking, so that none goes before it is counted. While no
// controller runs, nobody removes it: kube-controller-manager does so only for Pods whose Job is gone, and leaves alone those of a
// Job that spec.managedBy gives to another controller (handleSingleOrphanPod in pkg/controller/job/job_controller.go). So a Job
// that is deleted in the background goes, and its Pods follow. But a Job that is deleted in the foreground waits for its Pods, and
// a namespace deletes Pods before Jobs (KEP-5080): there the Pods wait for the controller, and the rest for the Pods.
//
// Remove therefore lets go of every Pod of a managed Job, or that plan.Made recognises. Rescue does it for those alone that are being deleted, or
// whose Job is: where a controller may come back, the others are still to be counted.
//
// # What belongs to an installation
//
// The objects with the label app.kubernetes.io/part-of: podverdict, of the kinds that package config has: those of the
// controller's namespace, and those of the cluster. While another namespace has a controller, too, the latter stay, and so do role
// bindings elsewhere. An installation that was changed by an overlay, with other names or fewer objects, is found as well.
//
// Nothing is remembered: whatever was interrupted, or failed for want of a permission, is done by the next run.
package uninstall
