package simulation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// APIVersion and Kind are those of a Script that says what it is.
const (
	APIVersion = "podverdict.io/v1alpha1"
	Kind       = "Simulation"
)

// Script says what pods do, and what is done to the Job. The zero Script lets every pod succeed.
type Script struct {
	// APIVersion and Kind may be left out.
	metav1.TypeMeta `json:",inline"`
	// Nodes is how many nodes there are, named node-0, node-1 and so on; 1 when it is 0. Pods are placed on them in turn.
	Nodes int `json:"nodes,omitempty"`
	// Pods are rules: the first that fits an attempt says what its pod does. A pod that no rule fits succeeds.
	Pods []Rule `json:"pods,omitempty"`
	// Events are what happens to the Job from outside.
	Events []Intervention `json:"events,omitempty"`
}

// Rule says what the pods of some attempts do. Durations are written 90s or 1h30m; a range, 10s-2m, is drawn from; forever
// is what it says. A pod succeeds unless the rule says how it fails: by exit codes, OOM or a condition.
type Rule struct {
	// Index selects completion indexes, 3 or 0-9,12; all when absent. The completions of a Job without indexes are numbered
	// the same way.
	Index *intstr.IntOrString `json:"index,omitempty"`
	// Attempt selects attempts at an index, counted from 1: 1, 2-4 or 3+; all when absent. A restart in place, which
	// restartPolicy OnFailure asks for, is an attempt too.
	Attempt *intstr.IntOrString `json:"attempt,omitempty"`
	// Probability is the chance of the rule to be taken, 0 to 1, for each attempt; 1 when absent.
	Probability *float64 `json:"probability,omitempty"`

	// Pending is how long the pod takes to start; 1s when absent.
	Pending string `json:"pending,omitempty"`
	// Waiting is the reason that the first container waits with as long as the pod is pending, such as ImagePullBackOff. The
	// pod has a node then.
	Waiting string `json:"waiting,omitempty"`
	// Unschedulable leaves the pod without a node as long as it is pending: its condition PodScheduled is False, Unschedulable.
	Unschedulable bool `json:"unschedulable,omitempty"`
	// Run is how long its containers run; 30s when absent.
	Run string `json:"run,omitempty"`
	// Stop is how long they run on when they are told to stop; 1s when absent. At the end of the grace period they are killed.
	Stop string `json:"stop,omitempty"`

	// ExitCode is that of the first container, which all others follow with 0.
	ExitCode *int32 `json:"exitCode,omitempty"`
	// ExitCodes are those of containers, by name; the others exit with 0.
	ExitCodes map[string]int32 `json:"exitCodes,omitempty"`
	// OOM kills the first container for its use of memory: exit code 137, reason OOMKilled.
	OOM bool `json:"oom,omitempty"`
	// Condition is a condition that the failing pod has, with status True. With DisruptionTarget the kubelet has evicted the
	// pod, and its containers exit with 137 unless exit codes are given; with another type the first exits with 1.
	Condition string `json:"condition,omitempty"`
}

// Intervention is what happens to the Job at a time. What is given of it happens in the order of the fields.
type Intervention struct {
	// At is the time since the Job was created, as a Rule's durations.
	At string `json:"at"`
	// Suspend suspends the Job, or resumes it.
	Suspend *bool `json:"suspend,omitempty"`
	// Parallelism and Completions scale the Job, as far as the API server lets them.
	Parallelism *int32 `json:"parallelism,omitempty"`
	Completions *int32 `json:"completions,omitempty"`
	// Delete selects indexes whose active pods are deleted, as by kubectl delete pod.
	Delete *intstr.IntOrString `json:"delete,omitempty"`
	// Evict selects indexes whose active pods are evicted by the API: they get the condition DisruptionTarget.
	Evict *intstr.IntOrString `json:"evict,omitempty"`
	// Drain is the name of a node: its pods are evicted, and it takes no more.
	Drain string `json:"drain,omitempty"`
}

// Random returns a Script in which pods run for 30 seconds to 5 minutes, and fail at this rate: half of them exit with 1, the
// others are killed for their use of memory, or disrupted.
func Random(failureRate float64) Script {
	const run = "30s-5m"
	// The rules share the rate: each takes its part of what those before it have left.
	exits := failureRate / 2
	kills := failureRate / 4 / (1 - exits)
	disruptions := failureRate / 4 / (1 - exits - failureRate/4)
	one := int32(1)
	return Script{Pods: []Rule{
		{Probability: &exits, Run: run, ExitCode: &one},
		{Probability: &kills, Run: run, OOM: true},
		{Probability: &disruptions, Run: run, Condition: "DisruptionTarget"},
		{Run: run},
	}}
}
