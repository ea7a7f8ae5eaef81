// Package v1alpha1 defines podverdict's own kinds: [PodFailurePolicy] says what the failure of a pod means for its Job, and
// [PodFailurePolicyBinding] says for which Jobs such a policy is in force.
//
//	apiVersion: podverdict.io/v1alpha1
//	kind: PodFailurePolicy
//	metadata: {name: training}
//	spec:
//	  matchConditions:
//	  - {name: training-team, expression: "job.metadata.?labels[?'team'].orValue('') == 'training'"}
//	  variables:
//	  - {name: oom, expression: "pod.failedContainers().exists(c, c.oomKilled)"}
//	  rules:
//	  - name: out-of-memory
//	    when: variables.oom
//	    action: Count
//	    reason: OutOfMemory
//	    budget: {limit: 3, per: Index, then: FailIndex}
//	---
//	apiVersion: podverdict.io/v1alpha1
//	kind: PodFailurePolicyBinding
//	metadata: {name: training}
//	spec:
//	  policyName: training
//	  namespaceSelector: {matchLabels: {gpu: "true"}}
//
// Fields are named as in ValidatingAdmissionPolicy where they mean the same.
//
// # Two equal validations
//
// The CustomResourceDefinitions in config/crd are generated from the types here. Their schemas hold every limit, so no
// webhook is needed. [PodFailurePolicy.SetDefaults], [PodFailurePolicy.Validate] and their counterparts for bindings do the
// same for programs without an API server; [Decode] and [ValidateJSON] add what Go's types cannot express. Tests compare both
// with a real API server, rule by rule. Neither checks whether expressions compile: the compiler does, and the policy's
// status says so.
//
// Validate does not ask the schemas, because the engine to import would grow from 396 packages to 487: schema validation and its
// CEL (apiextensions-apiserver v0.37.2, pkg/apiserver/validation and schema/cel) bring Prometheus' client, OpenTelemetry and
// go-openapi.
//
// Everything that the schemas accept can be decoded into the Go types. The spec of a [LastGood] has no schema, and is dropped
// if it cannot be decoded. So one object cannot break a list.
//
// +kubebuilder:object:generate=true
// +groupName=podverdict.io
package v1alpha1

//go:generate go tool -modfile=../../tools/go.mod controller-gen object crd paths=. output:crd:dir=../../config/crd
//go:generate go -C ../../tools run ./cmd/schemas
