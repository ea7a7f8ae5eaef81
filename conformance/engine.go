package conformance

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/runtime"
)

// Request asks what a pod's failure means for its Job.
type Request struct {
	// Kubernetes is the version whose behaviour is asked for, like "1.28", as
	// compiler.ParseVersion takes it; empty means compiler.DefaultVersion.
	Kubernetes string `json:"kubernetes,omitempty"`
	// Policy is the Job's spec.podFailurePolicy as stored, legal or not; nil when
	// the Job has none.
	Policy *batchv1.PodFailurePolicy `json:"policy,omitempty"`
	// Pod is the pod to judge. A pod without a phase is judged as a failed one.
	Pod *corev1.Pod `json:"pod"`
}

// Engine judges pods. It is safe for concurrent use, and keeps nothing of a
// request. An error means that there is no verdict; an evaluation that broke off
// has one, with runtime.Verdict.Err set.
type Engine func(ctx context.Context, r Request) (runtime.Verdict, error)
