package upstream

import (
	"reflect"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// pair is what engines are asked about.
type pair struct {
	policy *batchv1.PodFailurePolicy
	pod    *corev1.Pod
}

func (p pair) clone() pair {
	return pair{p.policy.DeepCopy(), p.pod.DeepCopy()}
}

// shrink returns a pair that still has the property and that no single step
// makes smaller without losing it.
func shrink(p pair, has func(pair) bool) pair {
	for {
		smaller, found := smallerThan(p, has)
		if !found {
			return p
		}
		p = smaller
	}
}

func smallerThan(p pair, has func(pair) bool) (pair, bool) {
	for _, step := range steps(p) {
		candidate := p.clone()
		step(candidate)
		if !reflect.DeepEqual(candidate, p) && has(candidate) {
			return candidate, true
		}
	}
	return pair{}, false
}

// steps lists ways to make the pair smaller or plainer, the big steps first.
// Plainest is the base pod of the vectors. No step undoes another, so shrinking
// ends.
func steps(p pair) []func(pair) {
	var all []func(pair)
	if p.policy != nil {
		all = removals(all, len(p.policy.Rules), func(q pair) *[]batchv1.PodFailurePolicyRule { return &q.policy.Rules })
		for i := range p.policy.Rules {
			all = ruleSteps(all, i, &p.policy.Rules[i])
		}
	}
	for i, list := range statusLists(p.pod) {
		if isBase(*list) {
			continue
		}
		all = removals(all, len(*list), func(q pair) *[]corev1.ContainerStatus { return statusLists(q.pod)[i] })
		for j := range *list {
			all = containerSteps(all, func(q pair) *corev1.ContainerStatus { return &(*statusLists(q.pod)[i])[j] })
		}
	}
	if list := p.pod.Status.ContainerStatuses; !isBase(list) {
		all = append(all, func(q pair) { q.pod.Status.ContainerStatuses = baseStatuses() })
	}
	all = removals(all, len(p.pod.Status.Conditions), func(q pair) *[]corev1.PodCondition { return &q.pod.Status.Conditions })
	return append(all,
		func(q pair) { q.pod.Name = baseName },
		func(q pair) { q.pod.Namespace = baseNamespace },
		func(q pair) { q.pod.Status.Phase = corev1.PodFailed },
	)
}

// baseStatuses returns the container statuses of the base pod.
func baseStatuses() []corev1.ContainerStatus {
	c := corev1.ContainerStatus{Name: baseContainer}
	c.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: baseExitCode}
	return []corev1.ContainerStatus{c}
}

func isBase(list []corev1.ContainerStatus) bool {
	return reflect.DeepEqual(list, baseStatuses())
}

func statusLists(pod *corev1.Pod) [3]*[]corev1.ContainerStatus {
	s := &pod.Status
	return [3]*[]corev1.ContainerStatus{&s.EphemeralContainerStatuses, &s.InitContainerStatuses, &s.ContainerStatuses}
}

// removals removes parts of a list of n elements: halves, quarters, ..., single
// elements.
func removals[T any](all []func(pair), n int, list func(pair) *[]T) []func(pair) {
	for size := n; size > 0; size /= 2 {
		for from := 0; from+size <= n; from += size {
			all = append(all, func(q pair) {
				l := list(q)
				*l = slices.Delete(*l, from, from+size)
			})
		}
	}
	return all
}

func ruleSteps(all []func(pair), i int, r *batchv1.PodFailurePolicyRule) []func(pair) {
	rule := func(q pair) *batchv1.PodFailurePolicyRule { return &q.policy.Rules[i] }
	all = append(all, func(q pair) { rule(q).Action = batchv1.PodFailurePolicyActionFailJob })
	if r.OnPodConditions != nil {
		all = append(all, func(q pair) { rule(q).OnPodConditions = nil })
		all = removals(all, len(r.OnPodConditions), func(q pair) *[]batchv1.PodFailurePolicyOnPodConditionsPattern {
			return &rule(q).OnPodConditions
		})
	}
	if r.OnExitCodes != nil {
		all = append(all,
			func(q pair) { rule(q).OnExitCodes = nil },
			func(q pair) { rule(q).OnExitCodes.ContainerName = nil },
			func(q pair) { slices.Sort(rule(q).OnExitCodes.Values) },
		)
		all = removals(all, len(r.OnExitCodes.Values), func(q pair) *[]int32 { return &rule(q).OnExitCodes.Values })
	}
	return all
}

func containerSteps(all []func(pair), c func(pair) *corev1.ContainerStatus) []func(pair) {
	return append(all,
		func(q pair) { c(q).LastTerminationState = corev1.ContainerState{} },
		func(q pair) { c(q).State.Running = nil },
		func(q pair) { c(q).State.Waiting = nil },
		func(q pair) { c(q).State.Terminated = nil },
		func(q pair) { c(q).Name = baseContainer },
		func(q pair) {
			if t := c(q).State.Terminated; t != nil {
				t.ExitCode = baseExitCode
			}
		},
	)
}
