// Package memoryapi is an API server in memory, for tests of the controller: Jobs and pods, namespaces and custom policies,
// and the events that are told of them. A [Server] is an http.RoundTripper, so that a clientset and informers work on it
// without a network, and a test reaches into it directly.
//
//	server := memoryapi.New(time.Now)
//	client, err := kubernetes.NewForConfig(server.Config())
//	job := server.CreateJob(&batchv1.Job{...})
//	server.ChangePod("ns", "pod", func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })
//
// # What is like the real one
//
// Resource versions, one sequence for all; updates that fail when the object has changed; the status of a Job is written with
// its metadata, and held to the rules of pkg/apis/batch/validation; patches of all kinds but server-side apply; deletion
// with preconditions, grace and finalizers; lists by resource version, and watches with initial events, bookmarks and label
// selectors. A write that changes nothing makes no new version. The package's tests hold the status rules to the Rego bundle
// that the real API server agrees with.
//
// # What a test controls
//
// [Server.Hold] stops what watches and cached lists show, and [Server.Show] lets them go on, a few changes at a time: the cache
// of the API server lags. [Server.CloseWatches] and [Server.Compact] break watches. [Server.Watch] has a function called after
// every change.
//
// # What is not there
//
// Admission, fields that are immutable, the validation of specs, garbage collection, and paging.
package memoryapi
