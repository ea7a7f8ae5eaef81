// Package ecosystem holds that JobSet, Kueue, MultiKueue and CronJobs cannot tell Jobs that podverdict's controller runs from
// those that Kubernetes' own Job controller runs. It consists of tests.
//
// Their real controllers run on a real control plane, with kwok as the kubelets. Each scenario of testdata runs twice at the same
// time, in two namespaces: once as it is written, and once with spec.managedBy set in every Job and every template of Jobs.
// At each checkpoint the JobSets, Workloads, CronJobs, Jobs and Pods of both must be equal, but for what the table in
// differences_test.go names; docs/interoperation.md explains each.
//
// It is a module of its own, and so are the controllers that it runs: they pin other versions of Kubernetes' libraries than
// podverdict does. Their manifests are read from their modules.
package ecosystem
