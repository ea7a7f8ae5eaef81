package conformance

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/runtime"
)

// Request asks what a pod's failure means for its Job.
type Request struct {
	// Kubernetes is the version whose behaviour is requested, such as "1.28", as accepted by compiler.ParseVersion; empty
	// means compiler.DefaultVersion.
	Kubernetes string `json:"kubernetes,omitempty"`
	// Policy is the Job's spec.podFailurePolicy as stored, valid or not; nil if the Job has none.
	Policy *batchv1.PodFailurePolicy `json:"policy,omitempty"`
	// Pod is the pod to evaluate. A pod without a phase counts as failed.
	Pod *corev1.Pod `json:"pod"`
}

// Engine evaluates pods. It must be safe for concurrent use, and must not retain a request. An error means that there is no
// verdict. If an evaluation was stopped early, there is a verdict with runtime.Verdict.Err set.
type Engine func(ctx context.Context, r Request) (runtime.Verdict, error)
