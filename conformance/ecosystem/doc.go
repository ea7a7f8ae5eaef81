// Package ecosystem tests that JobSet, Kueue, MultiKueue and CronJobs work the same with Jobs that podverdict's controller
// runs as with those that Kubernetes' own Job controller runs. It has only tests.
//
// The real controllers run on a real control plane, with kwok as the kubelets. Each scenario of testdata runs twice at the
// same time, in two namespaces: once as it is written, and once with spec.managedBy set in every Job and every template of
// Jobs. At each checkpoint the JobSets, Workloads, CronJobs, Jobs and Pods of both must be equal, except for the differences
// listed in differences_test.go and explained in docs/interoperation.md.
//
// The scenarios of living and livingready have policies with rules on Pods that live: containers restart in place, and nodes are
// lost, on a cluster of its own whose controller manager soon sees that. There package testcluster plays the kubelets.
//
// What internal/kube/jobset says of a JobSet's failurePolicy is compared with JobSet's code, on generated JobSets, and with its controller,
// on the same control plane.
//
// TestRetryBeyondAdmission has no other arm: only our controller gives an attempt more memory than Kueue has admitted.
//
// It is a separate module, because the controllers that it runs require other versions of Kubernetes' libraries than
// podverdict does. Their manifests are read from their modules.
package ecosystem
