// Package podstate says what a Pod that has not ended waits for, as its status, its deletion and its node show it.
//
//	if wait := podstate.Of(pod, node, now); wait != nil {
//		fmt.Println(wait.Text()) // main cannot start since 2026-09-14T08:00:00Z: ImagePullBackOff: Back-off pulling image "app:typo"
//	}
//
// It does not say what a failure of the Pod would mean. Reasons and messages are those of the kubelet and the scheduler.
package podstate
