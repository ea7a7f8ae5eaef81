package controller_test

import (
	"math"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

// scenario is a Job and the events in its life.
type scenario struct {
	name     string
	job      *batchv1.Job
	settings plan.Settings
	// policies are custom policies and their bindings.
	policies []memoryapi.Object
	// mending is a policy with retries and its binding.
	mending []memoryapi.Object
	fate    fate
	lives   batchv1.PodFailurePolicyAction // action of the rules on living pods, if any
	acts    []act
	calm    bool // only the controller deletes pods, and only when they have ended
	// listsOnly makes informers begin with a list, which requests a version, instead of a stream.
	listsOnly bool
}

// Exit codes with a rule in the policy of the scenarios.
const (
	codeIgnore    = 3
	codeFailIndex = 7
	codeCount     = 9
	codeFailJob   = 42
)

// ignored reports whether that policy ignores a failed pod.
func ignored(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Terminated != nil && c.State.Terminated.ExitCode == codeIgnore {
			return true
		}
	}
	return false
}

// managed returns a Job for podverdict's controller.
func managed(parallelism int32, options ...func(*batchv1.JobSpec)) *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: jobName},
		Spec: batchv1.JobSpec{
			Parallelism: &parallelism,
			ManagedBy:   new(controller.Name),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "main"}},
			}},
		},
	}
	for _, option := range options {
		option(&job.Spec)
	}
	return job
}

func annotated(job *batchv1.Job, name, value string) *batchv1.Job {
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, name, value)
	return job
}

func completions(n int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.Completions = &n }
}

func indexed(n int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.Completions, s.CompletionMode = &n, new(batchv1.IndexedCompletion) }
}

func perIndex(limit int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex, s.BackoffLimit = &limit, new(int32(math.MaxInt32)) }
}

func backoffLimit(n int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.BackoffLimit = &n }
}

func maxFailedIndexes(n int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.MaxFailedIndexes = &n }
}

func deadline(seconds int64) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = &seconds }
}

func succeededCount(n int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) {
		s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: &n}}}
	}
}

func succeededIndexes(indexes string) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) {
		s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: &indexes}}}
	}
}

func replaceFailed(s *batchv1.JobSpec) { s.PodReplacementPolicy = new(batchv1.Failed) }

func suspended(s *batchv1.JobSpec) { s.Suspend = new(true) }

// policy ignores disruptions and code 3, fails the index for code 7 if the Job has limits per index, counts code 9, and fails
// the Job for code 42.
func policy(s *batchv1.JobSpec) {
	rule := func(action batchv1.PodFailurePolicyAction, code int32) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{code},
		}}
	}
	rules := []batchv1.PodFailurePolicyRule{
		{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
			{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
		}},
		rule(batchv1.PodFailurePolicyActionIgnore, codeIgnore),
		rule(batchv1.PodFailurePolicyActionCount, codeCount),
		rule(batchv1.PodFailurePolicyActionFailJob, codeFailJob),
	}
	if s.BackoffLimitPerIndex != nil {
		rules = append(rules, rule(batchv1.PodFailurePolicyActionFailIndex, codeFailIndex))
	}
	s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: rules}
}

// sparing returns a custom policy that ignores code 3 up to the limit, followed by a different action.
func sparing(limit int32, per v1alpha1.BudgetScope, then batchv1.PodFailurePolicyAction) []memoryapi.Object {
	r := rule("spare", "pod.failedContainers().exists(c, c.exitCode == 3)", batchv1.PodFailurePolicyActionIgnore)
	r.Budget = &v1alpha1.Budget{Limit: limit, Per: per, Then: then}
	return []memoryapi.Object{customPolicy("spare", r), bind("spare")}
}

// succeeds is the fate of pods that all succeed.
func succeeds(int, int) int32 { return 0 }

// exits returns the fate of pods that fail with the given codes at each slot, followed by a success.
func exits(codes map[int][]int32) fate {
	return func(slot, attempt int) int32 {
		if attempt < len(codes[slot]) {
			return codes[slot][attempt]
		}
		return 0
	}
}

// always returns the fate of pods that always exit with the code at the given slots and succeed at others.
func always(code int32, slots ...int) fate {
	return func(slot, _ int) int32 {
		if slices.Contains(slots, slot) {
			return code
		}
		return 0
	}
}

// activePods returns a condition that is true if exactly n pods are active.
func activePods(n int) func(*cluster) bool {
	return func(c *cluster) bool { return c.count(active) == n }
}

// running returns a condition that is true if exactly n pods run.
func running(n int) func(*cluster) bool {
	return func(c *cluster) bool {
		return c.count(func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }) == n
	}
}

func failures(n int32) func(*cluster) bool {
	return func(c *cluster) bool { return c.job.Status.Failed >= n }
}

func changes(change func(*batchv1.JobSpec)) func(*cluster) {
	return func(c *cluster) { c.changeJob(change) }
}

func suspend(s *batchv1.JobSpec) { s.Suspend = new(true) }

func resume(s *batchv1.JobSpec) { s.Suspend = new(false) }

func parallelism(n int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.Parallelism = &n }
}

// scale changes the size of an elastic Indexed Job.
func scale(n int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.Parallelism, s.Completions = new(n), new(n) }
}

// deletePod deletes the first active pod.
func deletePod(c *cluster) {
	for _, pod := range c.server.Pods() {
		if active(pod) {
			_ = c.server.DeletePod(pod.Namespace, pod.Name, -1) // it exists
			return
		}
	}
}
