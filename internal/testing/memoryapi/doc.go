// Package memoryapi is an API server in memory, for tests of the controller: Jobs and pods, namespaces, custom policies
// and events. A [Server] is an http.RoundTripper, so that a clientset and informers use it without a network, and tests
// access it directly.
//
//	server := memoryapi.New(time.Now)
//	client, err := kubernetes.NewForConfig(server.Config())
//	job := server.CreateJob(&batchv1.Job{...})
//	server.ChangePod("ns", "pod", func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })
//
// # Implemented behaviour
//
// Resource versions form one sequence for all resources; updates fail if the object has changed. The status of a Job is
// written with its metadata and validated by the Rego bundle. Strategic merge patches are supported; so are deletion with
// preconditions, grace and finalizers, lists by resource version, and watches with initial events, bookmarks and label
// selectors. A write that changes nothing creates no new version.
//
// # Control by tests
//
// [Server.Hold] stops watches and cached lists, and [Server.Show] lets them advance a few changes at a time, as if the
// cache of the API server lagged. [Server.CloseWatches] and [Server.Compact] break watches. [Server.Watch] registers a
// function that is called after every change.
//
// # Not implemented
//
// Admission, immutable fields, validation of specs, garbage collection, and paging.
package memoryapi
