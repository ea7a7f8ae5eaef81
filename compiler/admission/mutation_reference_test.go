package admission_test

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
)

// giveDefaults is the reference implementation in Go of a policy in CEL. The spec is as submitted. In a Job, to which the
// API server applies its own defaults, a value that equals the default counts as not set unless wrote reports that the
// user is known to have written it.
func giveDefaults(d *batchv1.JobSpec, s *batchv1.JobSpec, isJob, wrote bool) {
	if isJob {
		jobdefaults.SetSpec(s)
	} else if s.PodFailurePolicy != nil {
		jobdefaults.SetPolicy(s.PodFailurePolicy)
	}
	never := s.Template.Spec.RestartPolicy == corev1.RestartPolicyNever
	indexed := s.CompletionMode != nil && *s.CompletionMode == batchv1.IndexedCompletion
	freeReplacement := s.PodReplacementPolicy == nil ||
		isJob && !wrote && s.PodFailurePolicy == nil && *s.PodReplacementPolicy == batchv1.TerminatingOrFailed
	freeLimit := s.BackoffLimitPerIndex == nil && (s.BackoffLimit == nil || isJob && !wrote && *s.BackoffLimit == 6)

	if d.PodReplacementPolicy != nil && freeReplacement && (s.PodFailurePolicy == nil || *d.PodReplacementPolicy == batchv1.Failed) {
		s.PodReplacementPolicy = d.PodReplacementPolicy
	}
	if d.BackoffLimitPerIndex != nil && indexed && never && s.BackoffLimitPerIndex == nil && fitsLimitPerIndex(d, s) {
		s.BackoffLimitPerIndex = d.BackoffLimitPerIndex
		if freeLimit && isJob {
			s.BackoffLimit = new(int32(1<<31 - 1))
		}
	}
	if d.BackoffLimit != nil && freeLimit {
		s.BackoffLimit = d.BackoffLimit
	}
	if m := d.MaxFailedIndexes; m != nil && indexed && s.MaxFailedIndexes == nil && s.BackoffLimitPerIndex != nil &&
		completionsOf(s) >= *m && (completionsOf(s) <= 100_000 || *m <= 10_000) {
		s.MaxFailedIndexes = m
	}
	setOnce(&s.ManagedBy, d.ManagedBy)
	setOnce(&s.ActiveDeadlineSeconds, d.ActiveDeadlineSeconds)
	setOnce(&s.TTLSecondsAfterFinished, d.TTLSecondsAfterFinished)
	freeReplacement = freeReplacement || s.PodReplacementPolicy != nil && *s.PodReplacementPolicy == batchv1.Failed
	if d.PodFailurePolicy != nil && s.PodFailurePolicy == nil && never && freeReplacement {
		givePolicy(d.PodFailurePolicy, s)
	}
}

func setOnce[T any](field **T, value *T) {
	if *field == nil {
		*field = value
	}
}

func completionsOf(s *batchv1.JobSpec) int32 {
	if s.Completions == nil {
		return 0
	}
	return *s.Completions
}

func fitsLimitPerIndex(d *batchv1.JobSpec, s *batchv1.JobSpec) bool {
	few := s.Parallelism == nil || *s.Parallelism <= 10_000
	return completionsOf(s) <= 100_000 || few && d.MaxFailedIndexes != nil && *d.MaxFailedIndexes <= 10_000
}

// givePolicy sets the failure policy without the rules that the Job may not have.
func givePolicy(p *batchv1.PodFailurePolicy, s *batchv1.JobSpec) {
	containers := map[string]bool{}
	for _, c := range append(append([]corev1.Container{}, s.Template.Spec.Containers...), s.Template.Spec.InitContainers...) {
		containers[c.Name] = true
	}
	given := &batchv1.PodFailurePolicy{}
	for _, r := range p.DeepCopy().Rules {
		named := r.OnExitCodes != nil && r.OnExitCodes.ContainerName != nil
		if named && !containers[*r.OnExitCodes.ContainerName] ||
			r.Action == batchv1.PodFailurePolicyActionFailIndex && s.BackoffLimitPerIndex == nil {
			continue
		}
		given.Rules = append(given.Rules, r)
	}
	if len(given.Rules) == 0 {
		return
	}
	jobdefaults.SetPolicy(given)
	s.PodFailurePolicy, s.PodReplacementPolicy = given, new(batchv1.Failed)
}
