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

	// spec is what the policy says.
	// +required
	Spec PodFailurePolicySpec `json:"spec"`
	// status is what the controller says of the policy.
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

// PodFailurePolicySpec is what a policy says.
type PodFailurePolicySpec struct {
	// matchConditions are about the Job. All of them must be true; else the policy says nothing of the Job's pods.
	// At most 64.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	MatchConditions []MatchCondition `json:"matchConditions,omitempty"`

	// variables are values that the rules share, each by the name variables.NAME. A variable is evaluated when it is first
	// asked for, once for a pod, and may use those before it in the list. At most 64.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Variables []Variable `json:"variables,omitempty"`

	// failurePolicy is what happens when a match condition or a rule cannot be evaluated, because CEL has an error there or
	// because it costs too much. Ignore, which is the default, goes on as if the rule did not match; a match condition with
	// an error keeps the policy away from the Job. Fail ends the evaluation: the failure counts, and no rule after it is
	// asked; with a match condition that has an error, the policy is in force for the Job, and no rule of it can be
	// evaluated.
	// +optional
	// +default="Ignore"
	FailurePolicy FailurePolicy `json:"failurePolicy,omitempty"`

	// rules are tried in order, and the first one that matches the pod decides. When none does, the policy says nothing of
	// the pod. 1 to 64.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Rules []Rule `json:"rules"`
}

// FailurePolicy is what happens when an expression cannot be evaluated.
//
// +kubebuilder:validation:Enum=Fail;Ignore
type FailurePolicy string

// The evaluation ends, or it goes on with the next rule.
const (
	FailurePolicyFail   FailurePolicy = "Fail"
	FailurePolicyIgnore FailurePolicy = "Ignore"
)

// MatchCondition is an expression that says of a Job whether the policy is about it.
type MatchCondition struct {
	// name tells the conditions of a policy apart, in messages too. It is a qualified name, as in ValidatingAdmissionPolicy:
	// letters, digits, dashes, underscores and dots, at most 63, which a letter or digit starts and ends; before it there
	// may be a DNS subdomain, at most 253 characters, and a slash.
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

// Variable is a value with a name.
type Variable struct {
	// name is the identifier after "variables.": letters, digits and underscores, a digit not first, and no reserved word of
	// CEL. At most 63 characters.
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

// Rule says of some pods what their failure means.
//
// +kubebuilder:validation:XValidation:rule="!has(self.retryDelay) || !(self.action in ['FailJob', 'FailIndex'])",fieldPath=".retryDelay",message="must be left out with FailJob and FailIndex, after which there is no retry"
// +kubebuilder:validation:XValidation:rule="!has(self.budget) || self.budget.then != self.action",fieldPath=".budget.then",message="must differ from the rule's action"
type Rule struct {
	// name tells the rules of a policy apart. It is in the verdict, in events and in metrics. It is a DNS label: lower-case
	// letters, digits and dashes, which a letter or digit starts and ends; at most 63 characters.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// phase is the phase of the pods that the rule is about. Failed is the default. Rules on Pending are about pods that do
	// not start; they act only where the binding says what to do with such pods.
	// +optional
	// +default="Failed"
	// +kubebuilder:validation:Enum=Failed;Pending
	Phase corev1.PodPhase `json:"phase,omitempty"`

	// when is CEL over pod, job, attempt and variables, and for Pending over now too. It must be a bool; the rule matches when
	// it is true. At most 4096 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	When string `json:"when"`

	// action is what happens, with the meaning that it has in a Job's podFailurePolicy: FailJob fails the Job and ends its
	// pods, FailIndex fails the pod's index, Ignore does not count the failure, and Count counts it.
	// +required
	// +kubebuilder:validation:Enum=FailJob;FailIndex;Ignore;Count
	Action batchv1.PodFailurePolicyAction `json:"action"`

	// reason is a word for programs, in CamelCase: in the message, the verdict, events and metrics. The reason of the Job's
	// own condition stays PodFailurePolicy. At most 128 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
	Reason string `json:"reason,omitempty"`

	// messageExpression is CEL for people: a string, over what when is over. Without it, or when it fails or says more
	// than 4 KiB, there is a message that names the rule. At most 4096 characters.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	MessageExpression string `json:"messageExpression,omitempty"`

	// budget limits how often the rule has its action.
	// +optional
	Budget *Budget `json:"budget,omitempty"`

	// retryDelay is how long after the failure the next attempt starts, in place of the Job's back-off: whole hours, minutes
	// and seconds, as 1h30m, from 0s to 24h. It is only for Ignore and Count.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=18
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}[hms]){1,3}$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('24h')",message="must be at most 24h"
	RetryDelay *metav1.Duration `json:"retryDelay,omitempty"`
}

// BudgetScope is what has a budget.
//
// +kubebuilder:validation:Enum=Job;Index
type BudgetScope string

// A budget is that of the whole Job, or each index has one.
const (
	PerJob   BudgetScope = "Job"
	PerIndex BudgetScope = "Index"
)

// Budget limits how often a rule has its action.
type Budget struct {
	// limit is how many matches have the rule's action. 1 to 1000000.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Limit int32 `json:"limit"`

	// per is what the matches are counted for: the Job, which is the default, or each index of an Indexed Job.
	// +optional
	// +default="Job"
	Per BudgetScope `json:"per,omitempty"`

	// then is the action of every further match. It must differ from the rule's action.
	// +required
	// +kubebuilder:validation:Enum=FailJob;FailIndex;Ignore;Count
	Then batchv1.PodFailurePolicyAction `json:"then"`
}
