// Package v1alpha1 is the API of podverdict's own kinds: [PodFailurePolicy] says what the failure of a pod means for its
// Job, and [PodFailurePolicyBinding] says for which Jobs that is in force.
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
// The words are those of ValidatingAdmissionPolicy where the meaning is the same.
//
// # Two validations that are one
//
// The CustomResourceDefinitions in config/crd are generated from the types here. Their schemas hold every limit, so no
// webhook is needed. [PodFailurePolicy.SetDefaults], [PodFailurePolicy.Validate] and their counterparts of the binding are
// the same again, for programs without an API server; [Decode] and [ValidateJSON] add what Go's types cannot tell. Tests
// hold both to the answers of a real API server, rule by rule. Whether expressions compile, neither of them says:
// that is the compiler's business, and the policy's status tells it.
//
// Everything that the schemas accept fits the Go types, or is left out if it is part of a [LastGood], whose spec has no
// schema. One object can therefore not break the list that it is part of.
//
// +kubebuilder:object:generate=true
// +groupName=podverdict.io
package v1alpha1

//go:generate go tool -modfile=../../tools/go.mod controller-gen object crd paths=. output:crd:dir=../../config/crd
//go:generate go -C ../../tools run ./cmd/schemas
