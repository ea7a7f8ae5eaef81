// Package podstate determines what a Pod that has not ended waits for, from its status, its deletion and its node.
//
//	if wait := podstate.Of(pod, node, now); wait != nil {
//		fmt.Println(wait.Text()) // main cannot start since 2026-09-14T08:00:00Z: ImagePullBackOff: Back-off pulling image "app:typo"
//	}
//
// It does not classify a failure of the Pod. Reasons and messages are those of the kubelet and the scheduler.
package podstate
