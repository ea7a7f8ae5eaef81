// Package rescue releases Pods that wait for a controller that no longer exists.
//
//	client, err := rescue.NewClient(config)
//	held, err := client.Stuck(ctx, "team-a") // or Held, when no controller will come back
//	err = client.Idle(ctx)                   // no controller is active
//	client.Release(ctx, held)
//
// The controller adds the finalizer batch.kubernetes.io/job-tracking to its Pods, so that no Pod is deleted before it is counted.
// While no controller runs, the finalizer is not removed: kube-controller-manager removes it only from Pods whose Job is gone, and
// skips Pods of a Job that spec.managedBy assigns to another controller (handleSingleOrphanPod in
// pkg/controller/job/job_controller.go). A Job deleted in the background is removed, followed by its Pods. But a Job deleted in
// the foreground waits for its Pods, and a namespace deletes Pods before Jobs (KEP-5080). In these cases, the Pods wait for the
// controller, and everything else waits for the Pods.
//
// The package keeps no state: the next run completes work that was interrupted or failed because of a missing permission.
package rescue
