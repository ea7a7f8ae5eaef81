package custom_test

var absentExamples = []example{
	{"A label of a Pod that may have none:", `{rules: [{name: team, action: Count, when: "pod.metadata.labels['team'] == 'training'"}]}`},
	{"A state that a container may not be in:", `{rules: [{name: code, action: Count, when: "pod.status.?containerStatuses.orValue([]).exists(c, c.state.terminated.exitCode == 3)"}]}`},
}

var checkExamples = []example{
	{"**policy-too-large**", `{rules: [{name: a, action: Count, when: "attempt > 3"}, {name: a, action: Ignore, when: "attempt > 1"}]}`},
	{"**expression-syntax**", `{rules: [{name: a, action: Count, when: "attempt > 3 and attempt < 6"}]}`},
	{"**expression-type**", `{rules: [{name: a, action: Count, when: "pod.failedContainers().exists(c, c.exitcode == 42)"}]}`},
	{"**unknown-variable**", `{variables: [{name: oom, expression: "pod.failedContainers().exists(c, c.oomKilled)"}], rules: [{name: a, action: Count, when: "variables.omm"}]}`},
	{"**variable-cycle**", `{variables: [{name: a, expression: "variables.a + 1"}], rules: [{name: a, action: Count, when: "attempt > 3"}]}`},
	{"**expression-cost**", `{rules: [{name: a, action: Count, when: "pod.containers().exists(c, pod.containers().exists(d, c.message.contains(d.message)))"}]}`},
	{"**object-construction**", `{rules: [{name: a, action: Count, when: "pod.spec == PodSpec{}"}]}`},
	{"**unguarded-field**", `{rules: [{name: a, action: Count, when: "pod.status.reason == 'Evicted'"}]}`},
	{"**unguarded-has**", `{rules: [{name: a, action: Count, when: "has(pod.spec.securityContext.runAsUser)"}]}`},
	{"**never-matches**", `{rules: [{name: a, action: Count, when: "pod.failedContainers().exists(c, c.exitCode == 0)"}]}`},
	{"**never-true**", `{rules: [{name: a, action: Count, when: "pod.containers().exists(c, c.signalName == 'KILL' || c.exitCode == 137)"}]}`},
	{"**always-matches**", `{rules: [{name: a, action: Count, when: "true"}, {name: b, action: Ignore, when: "attempt > 3"}]}`},
	{"**unreachable-rule**", `{rules: [{name: a, action: Count, when: "true"}, {name: b, action: Ignore, when: "attempt > 3"}]}`},
	{"**misspelt-word**", `{rules: [{name: a, action: Count, when: "pod.failedContainers().exists(c, c.reason == 'OOMKill')"}]}`},
	{"**exit-code-out-of-range**", `{rules: [{name: a, action: Count, when: "pod.failedContainers().exists(c, c.exitCode == 300)"}]}`},
	{"**waiting-in-failed-rule**", `{rules: [{name: a, action: Count, when: "pod.unschedulable()"}]}`},
}

var costExamples = []string{
	"pod.status.phase == 'Failed'",
	"pod.failedContainers().exists(c, c.exitCode == 42)",
	"pod.failedContainers().exists(c, c.exitCode in [1, 2, 3])",
	"pod.failedContainers().exists(c, c.name == 'main' && c.exitCode.between(128, 159))",
	"pod.hasCondition('DisruptionTarget')",
	"pod.unschedulable() && pod.pendingFor(now) > duration('30m')",
	"'ImagePullBackOff' in pod.waitingReasons()",
	"pod.metadata.?labels[?'team'].orValue('') == 'training'",
	"pod.failedContainers().exists(c, c.message.contains('CUDA error'))",
	"pod.failedContainers().exists(c, c.message.matches('(?i)cuda error [0-9]+'))",
	"pod.status.?containerStatuses.orValue([]).exists(c, c.state.?terminated.?exitCode.orValue(0) == 42)",
	"pod.spec.containers.exists(c, c.?resources.?limits[?'nvidia.com/gpu'].hasValue())",
	"pod.failedContainers().exists(c, pod.failedContainers().exists(d, c.name != d.name && c.exitCode == d.exitCode))",
}
