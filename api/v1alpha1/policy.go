package v1alpha1

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodFailurePolicy says what the failure of a pod means for its Job, by rules in CEL. It is in force where a
// PodFailurePolicyBinding says so.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=pfp
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Rules",type="integer",JSONPath=".status.rules",description="How many rules there are."
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description="Whether every expression compiles."
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=podverdict"
type PodFailurePolicy struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the specification of the policy.
	// +required
	Spec PodFailurePolicySpec `json:"spec"`
	// status is written by the controller.
	// +optional
	Status PodFailurePolicyStatus `json:"status,omitzero"`
}

// PodFailurePolicyList is a list of policies.
//
// +kubebuilder:object:root=true
type PodFailurePolicyList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the policies.
	Items []PodFailurePolicy `json:"items"`
}

// PodFailurePolicySpec is the specification of a policy.
type PodFailurePolicySpec struct {
	// matchConditions are about the Job. The policy applies to the Job's pods only if all of them are true. At most 64.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	MatchConditions []MatchCondition `json:"matchConditions,omitempty"`

	// variables are values that the rules share, each by the name variables.NAME. A variable is evaluated at most once for a
	// pod, when it is first used, and may use those before it in the list. At most 64.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Variables []Variable `json:"variables,omitempty"`

	// failurePolicy says what happens if a match condition or a rule cannot be evaluated, because CEL has an error there or
	// because it costs too much. With Ignore, which is the default, such a rule does not match, and the policy does not apply
	// to a Job whose match condition has an error. With Fail, the failure counts and no further rules are evaluated; if a
	// match condition has an error, the policy is in force for the Job, but none of its rules can be evaluated.
	// +optional
	// +default="Ignore"
	FailurePolicy FailurePolicy `json:"failurePolicy,omitempty"`

	// rules are tried in order, and the first one that matches the pod decides. If none matches, the policy does not decide
	// on the pod. 1 to 64.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Rules []Rule `json:"rules"`
}

// FailurePolicy says what happens if an expression cannot be evaluated.
//
// +kubebuilder:validation:Enum=Fail;Ignore
type FailurePolicy string

// Evaluation ends, or goes on with the next rule.
const (
	FailurePolicyFail   FailurePolicy = "Fail"
	FailurePolicyIgnore FailurePolicy = "Ignore"
)

// MatchCondition is an expression that decides whether the policy applies to a Job.
type MatchCondition struct {
	// name identifies the condition in the policy and in messages. It is a qualified name, as in ValidatingAdmissionPolicy:
	// letters, digits, dashes, underscores and dots, starting and ending with a letter or digit, at most 63 characters; a DNS
	// subdomain of at most 253 characters and a slash may precede it.
	// +required
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self.indexOf('/') <= 253",message="must have at most 253 characters before the slash"
	Name string `json:"name"`

	// expression is CEL over job, and must be a bool. At most 4096 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Expression string `json:"expression"`
}

// Variable is a named value.
type Variable struct {
	// name is the identifier after "variables.": letters, digits and underscores, not starting with a digit, and no reserved
	// word of CEL. At most 63 characters.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]*$`
	// +kubebuilder:validation:XValidation:rule="!(self in ['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'])",message="must not be a reserved word of CEL"
	Name string `json:"name"`

	// expression is CEL over pod, job, attempt and the variables before this one, of any type. At most 4096 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Expression string `json:"expression"`
}

// Rule says what the failure of certain pods means.
//
// +kubebuilder:validation:XValidation:rule="!has(self.retryDelay) || !(self.action in ['FailJob', 'FailIndex'])",fieldPath=".retryDelay",message="must be left out with FailJob and FailIndex, after which there is no retry"
// +kubebuilder:validation:XValidation:rule="!has(self.retry) || !(self.action in ['FailJob', 'FailIndex'])",fieldPath=".retry",message="must be left out with FailJob and FailIndex, after which there is no retry"
// +kubebuilder:validation:XValidation:rule="!has(self.condition) || has(self.phase) && self.phase != 'Failed'",fieldPath=".condition",message="must be left out with Failed, because only a pod that lives gets a condition"
// +kubebuilder:validation:XValidation:rule="!has(self.budget) || self.budget.then != self.action",fieldPath=".budget.then",message="must differ from the rule's action"
type Rule struct {
	// name identifies the rule in the policy, in verdicts, events and metrics. It is a DNS label: lower-case letters, digits
	// and dashes, starting and ending with a letter or digit; at most 63 characters.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// phase is the phase of the pods that the rule applies to: Failed, which is the default, or Pending, Running or
	// Terminating for pods that live. A pod is Terminating if it is to be deleted and has not ended; it is then neither Pending
	// nor Running. A pod that lives is ended only if the binding's livingPods has its phase.
	// +optional
	// +default="Failed"
	// +kubebuilder:validation:Enum=Failed;Pending;Running;Terminating
	Phase corev1.PodPhase `json:"phase,omitempty"`

	// when is CEL over pod, job, node, attempt, attempts and variables, and for pods that live also over now. It must be a
	// bool; the rule matches when it is true. At most 4096 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	When string `json:"when"`

	// action is what the rule does, as in a Job's podFailurePolicy: FailJob fails the Job and ends its pods, FailIndex fails
	// the pod's index, Ignore does not count the failure, and Count counts it.
	// +required
	// +kubebuilder:validation:Enum=FailJob;FailIndex;Ignore;Count
	Action batchv1.PodFailurePolicyAction `json:"action"`

	// reason is a CamelCase word for programs, shown in the message, the verdict, events and metrics. The reason of the Job's
	// own condition stays PodFailurePolicy. At most 128 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
	Reason string `json:"reason,omitempty"`

	// condition is, for a phase of pods that live, the type of the condition that a pod gets before it is ended, so that a
	// Job's podFailurePolicy can name it: a domain, a slash and a name, as in example.com/RestartLimit. It must not be in the
	// domains kubernetes.io and k8s.io. The default is podverdict.io/FailingToStart for Pending, podverdict.io/Stopped for
	// Running, and podverdict.io/Lost for Terminating. At most 317 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self.indexOf('/') <= 253",message="must have at most 253 characters before the slash"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([^/]*[.])?(kubernetes|k8s)[.]io/')",message="must not be in the domains kubernetes.io and k8s.io"
	Condition string `json:"condition,omitempty"`

	// class groups rules of several policies by what kind of failure they find, as in out-of-memory or lost-node. It is a DNS
	// label, shown in the verdict, events and metrics. At most 63 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Class string `json:"class,omitempty"`

	// hint tells the owner of the Job what to do about the failure. It follows the message. At most 1024 characters.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Hint string `json:"hint,omitempty"`

	// messageExpression is CEL that returns a string for people, over the same variables as when. If it is missing, fails or
	// returns more than 4 KiB, the message names the rule instead. At most 4096 characters.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	MessageExpression string `json:"messageExpression,omitempty"`

	// budget limits how often the rule's action is taken.
	// +optional
	Budget *Budget `json:"budget,omitempty"`

	// retryDelay is how long after the failure the next attempt starts, instead of the Job's back-off: whole hours, minutes
	// and seconds, such as 1h30m, from 0s to 24h. It is allowed only with Ignore and Count.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=18
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}[hms]){1,3}$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('24h')",message="must be at most 24h"
	RetryDelay *metav1.Duration `json:"retryDelay,omitempty"`

	// retry is what the next attempt at the index gets because of the rule's matches there. It stays so if the index fails for
	// another reason in between. Only Jobs that podverdict runs get it. It is allowed only with Ignore and Count.
	// +optional
	Retry *Retry `json:"retry,omitempty"`
}

// Retry says what the pod of the next attempt gets.
//
// +kubebuilder:validation:XValidation:rule="has(self.memory) || has(self.avoidNode)",message="must have memory or avoidNode"
type Retry struct {
	// memory gives more memory to the containers that ran out of it.
	// +optional
	Memory *RetryMemory `json:"memory,omitempty"`

	// avoidNode keeps the next attempts at the index away from the nodes on which the rule has matched: Preferred if possible,
	// Required in any case. Nodes are told apart by the label kubernetes.io/hostname.
	// +optional
	AvoidNode AvoidNode `json:"avoidNode,omitempty"`
}

// RetryMemory says how much more memory each container gets that was OOMKilled: the Job's request and limit, times factor for
// each match of the rule in which the container was OOMKilled, rounded up to a Mi.
type RetryMemory struct {
	// factor is a decimal number from 1.01 to 10, with at most two decimals.
	// +required
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^([1-9](\.[0-9]{1,2})?|10(\.00?)?)$`
	// +kubebuilder:validation:XValidation:rule="double(self) > 1.0",message="must be greater than 1"
	Factor string `json:"factor"`

	// max is the most that a container gets, such as 16Gi: a number of at most 16 digits and three decimals, and a unit of
	// memory or none for bytes. A container that has more in the Job keeps it.
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[1-9][0-9]{0,15}(\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?$`
	Max string `json:"max"`
}

// AvoidNode says how strictly nodes are avoided.
//
// +kubebuilder:validation:Enum=Preferred;Required
type AvoidNode string

// A node is avoided if possible, or in any case.
const (
	AvoidPreferred AvoidNode = "Preferred"
	AvoidRequired  AvoidNode = "Required"
)

// BudgetScope is what a budget is for.
//
// +kubebuilder:validation:Enum=Job;Index
type BudgetScope string

// The whole Job has one budget, or each index has one.
const (
	PerJob   BudgetScope = "Job"
	PerIndex BudgetScope = "Index"
)

// Budget limits how often a rule's action is taken.
type Budget struct {
	// limit is how many matches get the rule's action. 1 to 1000000.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Limit int32 `json:"limit"`

	// per is what matches are counted for: the Job, which is the default, or each index of an Indexed Job.
	// +optional
	// +default="Job"
	Per BudgetScope `json:"per,omitempty"`

	// then is the action of every further match. It must differ from the rule's action.
	// +required
	// +kubebuilder:validation:Enum=FailJob;FailIndex;Ignore;Count
	Then batchv1.PodFailurePolicyAction `json:"then"`
}
