package check

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/api/v1alpha1"
	controllerplan "github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime/binding"
)

// retry finds retries of a rule that are probably unintended for a Job: they do less than they seem to, or too much.
func (c *customPolicies) retry(policy string, i int, r *v1alpha1.Rule, in use) {
	job := in.job
	if r.Retry == nil || binding.Manager(job) != v1alpha1.JobController || in.binding.Spec.Mode == v1alpha1.ModeAudit {
		return
	}
	name := job.Namespace + "/" + job.Name
	warn := func(check, path, message, hint string) {
		c.ruleFinding(policy, check, i, r.Name, "retry."+path, message, hint)
	}
	nodes, tried := len(c.set.Nodes), nodesTried(r, job)
	if r.Retry.AvoidNode == v1alpha1.AvoidRequired && nodes > 0 && tried >= nodes {
		warn(checkAvoidsTooMany, "avoidNode",
			fmt.Sprintf("the rule may match on %d nodes at an index of Job %s, and the input has %d: then no node is left", tried, name, nodes),
			"set avoidNode: Preferred, or a budget per index that is below the number of nodes")
	}
	if r.Retry.Memory == nil {
		return
	}
	spec, most := &job.Spec.Template.Spec, r.Retry.Memory.MaxBytes()
	sized := spec.Resources != nil
	for _, container := range containerNames(job) {
		switch memory := controllerplan.Memory(spec, container); {
		case memory.Value() >= most:
			warn(checkMaxBelowBase, "memory.max", fmt.Sprintf("%s of Job %s has %s in the template, and gets no more", container, name, memory.String()),
				"set a max above what the Job's containers have")
			fallthrough
		case !memory.IsZero():
			sized = true
		}
	}
	if !sized {
		warn(checkWithoutMemory, "memory", fmt.Sprintf("no container of Job %s has memory in the template, so nothing grows", name),
			"set resources.requests.memory and resources.limits.memory in the Job's containers")
		return
	}
	if change := qosChange(job, r.Retry); change != "" {
		warn(checkChangesQoS, "memory", fmt.Sprintf("the Pods of Job %s %s", name, change), "set equal requests and limits of memory in the Job's containers")
	}
	if job.Labels[binding.KueueQueue] != "" {
		warn(checkBeyondAdmission, "memory",
			fmt.Sprintf("Kueue admits Job %s with the memory of its template, and does not know of more that a retry gets", name),
			"leave room for it in the quota, or put the memory into the template")
	}
}

// nodesTried returns the number of nodes that a rule may match on at one index while the Job is retried. Without a bound it is 10, the
// maximum that a Pod avoids.
func nodesTried(r *v1alpha1.Rule, job *batchv1.Job) int {
	most := int32(10)
	if r.Budget != nil {
		most = min(most, r.Budget.Limit)
	}
	if r.Action == batchv1.PodFailurePolicyActionCount {
		most = min(most, ptr.Deref(job.Spec.BackoffLimitPerIndex, ptr.Deref(job.Spec.BackoffLimit, most)))
	}
	return int(most)
}

// qosChange describes how the QoS class of a Job's Pods changes when containers grow once, or up to max. It returns "" if the class stays
// the same.
func qosChange(job *batchv1.Job, retry *v1alpha1.Retry) string {
	stays := func(times int32) bool {
		killed := map[string]int32{}
		for _, container := range containerNames(job) {
			killed[container] = times
		}
		mended, _ := controllerplan.Retries{"/": {Retry: *retry, OOMKilled: killed}}.Mend(&job.Spec.Template.Spec)
		return isGuaranteed(&mended) == isGuaranteed(&job.Spec.Template.Spec)
	}
	switch {
	case stays(1) && stays(v1alpha1.MaxBudget):
		return ""
	case isGuaranteed(&job.Spec.Template.Spec):
		return "are Guaranteed, and no longer so with more memory: they are evicted earlier"
	}
	return "become Guaranteed when request and limit are both max: a static CPU manager then gives them CPUs of their own"
}

// isGuaranteed reports whether Pods have the QoS class Guaranteed: all CPU and memory limits are set, and equal to the requests.
func isGuaranteed(spec *corev1.PodSpec) bool {
	var all []corev1.ResourceRequirements
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		all = append(all, c.Resources)
	}
	if pod := spec.Resources; pod != nil && len(pod.Requests)+len(pod.Limits) > 0 {
		all = []corev1.ResourceRequirements{*pod}
	}
	return !slices.ContainsFunc(all, func(r corev1.ResourceRequirements) bool {
		differs := func(name corev1.ResourceName) bool {
			limit, limited := r.Limits[name]
			request, requested := r.Requests[name]
			return !limited || requested && request.Cmp(limit) != 0
		}
		return differs(corev1.ResourceCPU) || differs(corev1.ResourceMemory)
	})
}
