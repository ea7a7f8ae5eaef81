package generators

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
)

// SmallScope is a finite space of policies and pods that is small enough for exhaustive tests: most bugs of a matcher
// show on small inputs.
//
//	codes       0, 1, 2
//	names       "a", "b"
//	operators   In, NotIn
//	statuses    True, False, Unknown
//	conditions  types "A", "B"
//	actions     FailJob, FailIndex, Ignore, Count
//
// A rule is an action and a selector. Exit-code selectors: each operator with each non-empty set of codes, for one name or
// none. Condition selectors: each set of one or two distinct patterns of a type and a status. Policies: each list of 0 to 2
// rules.
//
// A pod is of phase Failed and has 0 to 2 containers and 0 to 2 conditions. Each container is an app or an init container
// (app containers come first in a pod's status, whatever the order of the two, so their order matters only within a list),
// named "a" or "b", and exited with one of the codes or is running. Each condition is a type and a status; the same type may
// occur twice.
//
// The space includes rules such as In [0], which the API server rejects.
type SmallScope struct {
	rules      []batchv1.PodFailurePolicyRule
	containers []containerLists
	conditions [][]corev1.PodCondition
}

type containerLists struct{ app, init []corev1.ContainerStatus }

var (
	scopeCodes    = [...]int32{0, 1, 2}
	scopeNames    = [...]string{"a", "b"}
	scopeTypes    = [...]corev1.PodConditionType{"A", "B"}
	scopeStatuses = [...]corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown}
)

// NewSmallScope returns the space.
func NewSmallScope() *SmallScope {
	return &SmallScope{rules: scopeRules(), containers: scopeContainers(), conditions: scopeConditions()}
}

// Policies returns the number of policies.
func (s *SmallScope) Policies() int {
	return 1 + len(s.rules) + len(s.rules)*len(s.rules)
}

// Policy returns a policy by its index, below Policies. Policies with fewer rules come first.
func (s *SmallScope) Policy(i int) *batchv1.PodFailurePolicy {
	n := len(s.rules)
	switch {
	case i == 0:
		return &batchv1.PodFailurePolicy{}
	case i <= n:
		return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{s.rules[i-1]}}
	default:
		i -= n + 1
		return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{s.rules[i/n], s.rules[i%n]}}
	}
}

// SingleRulePolicies returns the number of policies with at most one rule, which come first and cover every requirement.
func (s *SmallScope) SingleRulePolicies() int {
	return 1 + len(s.rules)
}

// Pods returns the number of pods.
func (s *SmallScope) Pods() int {
	return len(s.containers) * len(s.conditions)
}

// Pod sets pod to the one with an index below Pods. Its lists are shared.
func (s *SmallScope) Pod(i int, pod *corev1.Pod) {
	lists := &s.containers[i/len(s.conditions)]
	pod.Namespace, pod.Name, pod.Status.Phase = "default", "p", corev1.PodFailed
	pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses = lists.app, lists.init
	pod.Status.Conditions = s.conditions[i%len(s.conditions)]
}

func scopeRules() []batchv1.PodFailurePolicyRule {
	var rules []batchv1.PodFailurePolicyRule
	for _, action := range generatedActions {
		for _, operator := range compiler.Operators {
			for _, values := range subsets(scopeCodes[:], len(scopeCodes)) {
				for _, name := range [...]*string{nil, &scopeNames[0], &scopeNames[1]} {
					rules = append(rules, batchv1.PodFailurePolicyRule{
						Action: action,
						OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
							ContainerName: name, Operator: operator, Values: values,
						},
					})
				}
			}
		}
		for _, patterns := range subsets(scopePatterns(), 2) {
			rules = append(rules, batchv1.PodFailurePolicyRule{Action: action, OnPodConditions: patterns})
		}
	}
	return rules
}

func scopePatterns() []batchv1.PodFailurePolicyOnPodConditionsPattern {
	var patterns []batchv1.PodFailurePolicyOnPodConditionsPattern
	for _, t := range scopeTypes {
		for _, s := range scopeStatuses {
			patterns = append(patterns, batchv1.PodFailurePolicyOnPodConditionsPattern{Type: t, Status: s})
		}
	}
	return patterns
}

func scopeContainers() []containerLists {
	var states []corev1.ContainerStatus
	for _, name := range scopeNames {
		running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		states = append(states, corev1.ContainerStatus{Name: name, State: running})
		for _, code := range scopeCodes {
			terminated := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}
			states = append(states, corev1.ContainerStatus{Name: name, State: terminated})
		}
	}
	var lists []containerLists
	for _, all := range sequences(states, 2) {
		for app := range len(all) + 1 {
			lists = append(lists, containerLists{app: all[:app], init: all[app:]})
		}
	}
	return lists
}

func scopeConditions() [][]corev1.PodCondition {
	var conditions []corev1.PodCondition
	for _, p := range scopePatterns() {
		conditions = append(conditions, corev1.PodCondition{Type: p.Type, Status: p.Status})
	}
	return sequences(conditions, 2)
}

// subsets returns the non-empty subsets of at most n elements, each in order.
func subsets[T any](all []T, n int) [][]T {
	var sets [][]T
	for mask := 1; mask < 1<<len(all); mask++ {
		var set []T
		for i, e := range all {
			if mask>>i&1 == 1 {
				set = append(set, e)
			}
		}
		if len(set) <= n {
			sets = append(sets, set)
		}
	}
	return sets
}

// sequences returns the sequences of 0 to n elements, with repetitions.
func sequences[T any](all []T, n int) [][]T {
	found := [][]T{nil}
	for last := found; n > 0; n-- {
		var longer [][]T
		for _, s := range last {
			for _, e := range all {
				longer = append(longer, append(slices.Clip(s), e))
			}
		}
		found, last = append(found, longer...), longer
	}
	return found
}
