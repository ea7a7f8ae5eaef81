package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PodFailurePolicyBinding says for which Jobs a PodFailurePolicy is in force, and how.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=pfpb
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Policy",type="string",JSONPath=".spec.policyName",description="The policy that is bound."
// +kubebuilder:printcolumn:name="Position",type="string",JSONPath=".spec.position",description="Before or after the Job's own rules."
// +kubebuilder:printcolumn:name="Mode",type="string",JSONPath=".spec.mode",description="Whether verdicts are carried out or only told."
// +kubebuilder:printcolumn:name="Jobs",type="integer",JSONPath=".status.jobs.selected",description="Unfinished Jobs that are selected."
// +kubebuilder:printcolumn:name="Not-Carried-Out",type="integer",JSONPath=".status.jobs.notCarriedOut",description="Those in which nobody carries out what the policy says of failed pods."
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=podverdict"
type PodFailurePolicyBinding struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the binding says.
	// +required
	Spec PodFailurePolicyBindingSpec `json:"spec"`
	// status is what the controller says of the binding.
	// +optional
	Status PodFailurePolicyBindingStatus `json:"status,omitzero"`
}

// PodFailurePolicyBindingList is a list of bindings.
//
// +kubebuilder:object:root=true
type PodFailurePolicyBindingList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the bindings.
	Items []PodFailurePolicyBinding `json:"items"`
}

// PodFailurePolicyBindingSpec is what a binding says.
type PodFailurePolicyBindingSpec struct {
	// policyName is the name of the PodFailurePolicy. It may be created later. At most 253 characters.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	PolicyName string `json:"policyName"`

	// namespaceSelector selects Jobs by the labels of their namespace. Without it, those of all namespaces are selected.
	// +optional
	NamespaceSelector *LabelSelector `json:"namespaceSelector,omitempty"`

	// jobSelector selects Jobs by their own labels. Without it, all Jobs are selected. A Job must be selected by both
	// selectors.
	// +optional
	JobSelector *LabelSelector `json:"jobSelector,omitempty"`

	// position is where the policy's rules stand: Before, which is the default, or After the rules of the Job's own
	// podFailurePolicy.
	// +optional
	// +default="Before"
	Position Position `json:"position,omitempty"`

	// mode is what becomes of the verdicts: Enforce, which is the default, carries them out; Audit only tells them, in
	// events and metrics.
	// +optional
	// +default="Enforce"
	Mode Mode `json:"mode,omitempty"`

	// pendingPods is what becomes of a pod that a rule on Pending matches: Ignore, which is the default, leaves it alone;
	// Delete gives it a condition that says why, and deletes it.
	// +optional
	// +default="Ignore"
	PendingPods PendingPods `json:"pendingPods,omitempty"`
}

// Position is where a policy's rules stand.
//
// +kubebuilder:validation:Enum=Before;After
type Position string

// The rules stand before or after those of the Job's own podFailurePolicy.
const (
	PositionBefore Position = "Before"
	PositionAfter  Position = "After"
)

// Mode is what becomes of verdicts.
//
// +kubebuilder:validation:Enum=Enforce;Audit
type Mode string

// Verdicts are carried out, or told in events and metrics only.
const (
	ModeEnforce Mode = "Enforce"
	ModeAudit   Mode = "Audit"
)

// PendingPods is what becomes of pods that a rule on Pending matches.
//
// +kubebuilder:validation:Enum=Ignore;Delete
type PendingPods string

// The pods stay, or they are deleted.
const (
	PendingPodsIgnore PendingPods = "Ignore"
	PendingPodsDelete PendingPods = "Delete"
)
