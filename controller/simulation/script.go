package simulation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// APIVersion and Kind are the only accepted values of a Script's header fields.
const (
	APIVersion = "podverdict.io/v1alpha1"
	Kind       = "Simulation"
)

// Script describes the pods' behaviour, and interventions from outside. With the zero Script every pod succeeds.
type Script struct {
	// APIVersion and Kind are optional.
	metav1.TypeMeta `json:",inline"`
	// Nodes is the number of nodes, named node-0, node-1 and so on; 0 means 1. Pods are placed on them in turn.
	Nodes int `json:"nodes,omitempty"`
	// Pods lists rules: the first one that matches an attempt decides its pod's behaviour. Without a matching rule, the
	// pod succeeds.
	Pods []Rule `json:"pods,omitempty"`
	// Events lists interventions from outside.
	Events []Intervention `json:"events,omitempty"`
}

// Rule describes the behaviour of the pods of some attempts. A duration is written 90s, 1h30m or forever; from a range
// such as 10s-2m it is drawn at random. The pod succeeds unless the rule makes it fail by exit codes, OOM or a condition.
type Rule struct {
	// Job selects Jobs of a JobSet: those of a replicatedJob, such as workers, or one, such as workers-0; all if absent.
	Job string `json:"job,omitempty"`
	// Restart selects lives of a JobSet's Job by the number of earlier restarts, such as 0 or 1+; all if absent.
	Restart *intstr.IntOrString `json:"restart,omitempty"`
	// Index selects completion indexes, such as 3 or 0-9,12; all if absent. The completions of a Job without indexes are
	// numbered the same way.
	Index *intstr.IntOrString `json:"index,omitempty"`
	// Attempt selects attempts at an index, counted from 1, such as 1, 2-4 or 3+; all if absent. A restart in place
	// is an attempt, too.
	Attempt *intstr.IntOrString `json:"attempt,omitempty"`
	// Probability is the chance, from 0 to 1, that the rule applies to an attempt; 1 if absent.
	Probability *float64 `json:"probability,omitempty"`

	// Pending is the time before the pod starts; 1s if absent.
	Pending string `json:"pending,omitempty"`
	// Waiting is the reason, such as ImagePullBackOff, for which the first container waits while the pod is pending. The
	// pod then has a node.
	Waiting string `json:"waiting,omitempty"`
	// Unschedulable leaves the pod without a node while it is pending: its condition PodScheduled is False, Unschedulable.
	Unschedulable bool `json:"unschedulable,omitempty"`
	// Ready is the time that the first container needs to become ready after its start; 0s if absent. With forever, it
	// never is ready.
	Ready string `json:"ready,omitempty"`
	// Run is the containers' run time; 30s if absent.
	Run string `json:"run,omitempty"`
	// Stop is the time that containers keep running after they are asked to stop; 1s if absent. At the end of the grace
	// period they are killed.
	Stop string `json:"stop,omitempty"`
	// StopExitCode is their exit code then; 143 if absent, as by SIGTERM. If it is 0, the pod succeeds.
	StopExitCode *int32 `json:"stopExitCode,omitempty"`

	// ExitCode is the exit code of the first container; all others exit with 0.
	ExitCode *int32 `json:"exitCode,omitempty"`
	// ExitCodes has exit codes by container name; the other containers exit with 0.
	ExitCodes map[string]int32 `json:"exitCodes,omitempty"`
	// OOM kills the first container for running out of memory: exit code 137, reason OOMKilled.
	OOM bool `json:"oom,omitempty"`
	// Needs is the amount of memory that the first container needs, such as 900Mi. If its memory limit is lower, it is
	// OOMKilled at the end of run; otherwise the rest of the rule applies.
	Needs string `json:"needs,omitempty"`
	// Condition is a condition of the failing pod, with status True. With DisruptionTarget the kubelet evicts the pod, and
	// its containers exit with 137 unless exit codes are given; with any other type the first container exits with 1.
	Condition string `json:"condition,omitempty"`
}

// Intervention changes the Job or its pods at a given time. The fields take effect in their order.
type Intervention struct {
	// At is the time since the Job's creation, written like a Rule's durations.
	At string `json:"at"`
	// Suspend suspends or resumes the Job.
	Suspend *bool `json:"suspend,omitempty"`
	// Parallelism and Completions scale the Job, as far as the API server allows.
	Parallelism *int32 `json:"parallelism,omitempty"`
	Completions *int32 `json:"completions,omitempty"`
	// Delete selects indexes whose active pods are deleted, as by kubectl delete pod.
	Delete *intstr.IntOrString `json:"delete,omitempty"`
	// Evict selects indexes whose active pods the eviction API evicts: they get the condition DisruptionTarget.
	Evict *intstr.IntOrString `json:"evict,omitempty"`
	// Drain names a node: its pods are evicted, and it accepts no more.
	Drain string `json:"drain,omitempty"`
	// Lose names a node whose kubelet no longer responds: it accepts no more pods, and its pods remain until it is back.
	Lose string `json:"lose,omitempty"`
	// OutOfService names a node that gets the taint node.kubernetes.io/out-of-service: its pods are evicted, and if it is
	// lost, pod garbage collection ends them.
	OutOfService string `json:"outOfService,omitempty"`
	// Restore names a node that is back.
	Restore string `json:"restore,omitempty"`
}

// Random returns a Script in which pods run for 30 seconds to 5 minutes and fail at the given rate. Half of the failing
// pods exit with 1; the others run out of memory or are disrupted.
func Random(failureRate float64) Script {
	const run = "30s-5m"
	// The rules share the rate: each applies to attempts that the earlier rules did not match.
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
