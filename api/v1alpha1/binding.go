package v1alpha1

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodFailurePolicyBinding says for which Jobs a PodFailurePolicy is in force, and how.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=pfpb
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Policy",type="string",JSONPath=".spec.policyName",description="The policy that is bound."
// +kubebuilder:printcolumn:name="Position",type="string",JSONPath=".spec.position",description="Before or after the Job's own rules."
// +kubebuilder:printcolumn:name="Mode",type="string",JSONPath=".spec.mode",description="Whether verdicts are carried out or only reported."
// +kubebuilder:printcolumn:name="Jobs",type="integer",JSONPath=".status.jobs.selected",description="Unfinished Jobs that are selected."
// +kubebuilder:printcolumn:name="Not-Carried-Out",type="integer",JSONPath=".status.jobs.notCarriedOut",description="Selected Jobs in which the policy has no effect."
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=podverdict"
type PodFailurePolicyBinding struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the specification of the binding.
	// +required
	Spec PodFailurePolicyBindingSpec `json:"spec"`
	// status is written by the controller.
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

// PodFailurePolicyBindingSpec is the specification of a binding.
type PodFailurePolicyBindingSpec struct {
	// policyName is the name of the PodFailurePolicy. It may be created later. At most 253 characters.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	PolicyName string `json:"policyName"`

	// namespaceSelector selects Jobs by the labels of their namespace. Without it, Jobs of all namespaces are selected.
	// +optional
	NamespaceSelector *LabelSelector `json:"namespaceSelector,omitempty"`

	// jobSelector selects Jobs by their own labels. Without it, all Jobs are selected. A Job must match both selectors.
	// +optional
	JobSelector *LabelSelector `json:"jobSelector,omitempty"`

	// position says whether the policy's rules come Before, which is the default, or After the rules of the Job's own
	// podFailurePolicy.
	// +optional
	// +default="Before"
	Position Position `json:"position,omitempty"`

	// mode says what happens with the verdicts: Enforce, which is the default, carries them out; Audit only reports them, in
	// events and metrics.
	// +optional
	// +default="Enforce"
	Mode Mode `json:"mode,omitempty"`

	// livingPods are the phases in which a pod that a rule matches is ended: it gets a condition that says why, and is deleted;
	// one that is Terminating becomes Failed. In the phases left out, matches are only reported, in events and metrics.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:Enum=Pending;Running;Terminating
	LivingPods []corev1.PodPhase `json:"livingPods,omitempty"`
}

// Ends reports whether pods that a rule matches in a phase are ended, unless the mode is Audit.
func (s *PodFailurePolicyBindingSpec) Ends(phase corev1.PodPhase) bool {
	return slices.Contains(s.LivingPods, phase)
}

// Position is the position of a policy's rules.
//
// +kubebuilder:validation:Enum=Before;After
type Position string

// Rules come before or after those of the Job's own podFailurePolicy.
const (
	PositionBefore Position = "Before"
	PositionAfter  Position = "After"
)

// Mode says what happens with verdicts.
//
// +kubebuilder:validation:Enum=Enforce;Audit
type Mode string

// Verdicts are carried out, or only reported in events and metrics.
const (
	ModeEnforce Mode = "Enforce"
	ModeAudit   Mode = "Audit"
)
