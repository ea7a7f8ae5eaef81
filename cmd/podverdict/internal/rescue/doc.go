// Package rescue lets go of Pods that wait for a controller which is gone.
//
//	client, err := rescue.NewClient(config)
//	held, err := client.Stuck(ctx, "team-a") // or Held, when no controller will come back
//	err = client.Idle(ctx)                   // no controller is at work
//	client.Release(ctx, held)
//
// The controller gives its Pods the finalizer batch.kubernetes.io/job-tracking, so that none goes before it is counted. While no
// controller runs, nobody removes it: kube-controller-manager does so only for Pods whose Job is gone, and leaves alone those of a
// Job that spec.managedBy gives to another controller (handleSingleOrphanPod in pkg/controller/job/job_controller.go). So a Job
// that is deleted in the background goes, and its Pods follow. But a Job that is deleted in the foreground waits for its Pods, and
// a namespace deletes Pods before Jobs (KEP-5080): there the Pods wait for the controller, and the rest for the Pods.
//
// Nothing is remembered: the next run does whatever was interrupted, or failed for want of a permission.
package rescue
