package custom_test

// The parts of docs/language.md that nobody can compute.

const languageHead = "# The language of custom rules\n\n" +
	"The expressions of a PodFailurePolicy (podverdict.io) are CEL, as the API server has it, over the Pod and the Job as they are.\n" +
	"This page is the reference; [custom-policies.md](custom-policies.md) says what policies and bindings do,\n" +
	"[custom-examples.md](custom-examples.md) has rules to copy. Written by `make generate`: all tables and findings are the code's.\n\n" +
	"## Expressions\n\n"

const languageVariables = `
| name | is |
|---|---|
| ` + "`pod`" + ` | the Pod, with all fields that Kubernetes 1.37 knows, by their JSON names |
| ` + "`job`" + ` | its Job, in the same way |
| ` + "`attempt`" + ` | the number of the Pod among those of its index, or of its place in a Job without indexes, from 1: an int. Pods that people delete may not count |
| ` + "`variables.NAME`" + ` | a variable of the policy: evaluated when it is first asked for, once for a Pod |
| ` + "`now`" + ` | the time, in rules on Pending: a timestamp. Rules on Failed have none: a verdict does not change by itself |
`

const languageFields = `
## Fields

What CEL sees is the JSON form of the objects in the API server: a field that is omitted there when it is empty is absent
here. ` + "`apiVersion`" + ` and ` + "`kind`" + `, which clients leave out, are always there. The types are those that the API server's CEL has:

| in the API | in CEL |
|---|---|
| Time, MicroTime | timestamp |
| Duration | duration |
| Quantity, as in the limits of containers | string, as in ` + "`'500m'`; `quantity(...)`" + ` makes one of it |
| IntOrString | int or string |
| everything else | bool, int, double, string, bytes, list, map, or an object of these |

`

const languageAbsent = `
To select a field that is absent is an error: the rule does not match, or, with ` + "`failurePolicy: Fail`" + ` in the policy, no later rule is
tried and the failure counts ([errors](custom-policies.md#errors)). Ask first, or say what it is then:

| write | it is |
|---|---|
| ` + "`has(pod.status.reason)`" + ` | whether the last field is there; those before it must be |
| ` + "`pod.status.?reason.orValue('')`" + ` | the field, or what stands there |
| ` + "`pod.metadata.?labels[?'team'].orValue('')`" + ` | the same for the key of a map |
| ` + "`has(pod.status.reason) && pod.status.reason == 'Evicted'`" + ` | asked first; in either order |

The compiler warns of fields that nobody asks for:

`

var absentExamples = []example{
	{"A label of a Pod that may have none:", `{rules: [{name: team, action: Count, when: "pod.metadata.labels['team'] == 'training'"}]}`},
	{"A state that a container may not be in:", `{rules: [{name: code, action: Count, when: "pod.status.?containerStatuses.orValue([]).exists(c, c.state.terminated.exitCode == 3)"}]}`},
}

const languageCEL = "The functions above need none of this: what is not there is 0, `false` or `''` for them, and their lists are empty.\n\n" +
	"## CEL\n\n" +
	"Besides these there are the operators of CEL (`&& || ! == != < <= > >= + - * / % in ?: [] .? [?]`), and\n\n"

const languageChecks = `
## What the compiler says

All checks run when a policy is compiled: by ` + "`podverdict lint`" + `, and by the controller, which writes what they find into
` + "`status.typeChecking`" + `. Of a policy with an error, the last version without one stays in force. Warnings
change nothing.

`

type documentedCheck struct{ name, severity, meaning string }

// checks are all checks, in the order of the page.
var checks = []documentedCheck{
	{"policy-too-large", "error", "there is too much of something, or a name is there twice; the API server refuses that too"},
	{"expression-syntax", "error", "it is no CEL"},
	{"expression-type", "error", "a field or function does not exist, or types do not fit"},
	{"unknown-variable", "error", "a variable does not exist, or comes later"},
	{"variable-cycle", "error", "variables use each other"},
	{"expression-cost", "error", "it may cost more than the limit, for Pods within the bounds below"},
	{"object-construction", "error", "it would make an object, of which there is no use"},
	{"expression-plan", "error", "CEL cannot plan it; no expression is known for which that is so"},
	{"unguarded-field", "warning", "a field may be absent, which would be an error"},
	{"unguarded-has", "warning", "has() asks for the last field only, and one before it may be absent"},
	{"never-matches", "warning", "the rule can never match"},
	{"never-true", "warning", "a part of the rule can never be true, so that it decides nothing"},
	{"always-matches", "warning", "the rule matches every Pod, and is not the last"},
	{"unreachable-rule", "warning", "a rule before it matches all that this one would"},
	{"misspelt-word", "warning", "a reason or a type of condition is nearly one that Kubernetes writes"},
	{"exit-code-out-of-range", "warning", "no process on Linux exits with such a code"},
	{"waiting-in-failed-rule", "warning", "a function about Pods that wait to start is asked when a Pod has failed"},
	{"not-at-admission", "error", "a match condition cannot be asked when a Job is created; said by `podverdict generate vap` alone"},
}

func checksTable() string {
	var rows [][]string
	for _, c := range checks {
		rows = append(rows, []string{c.name, c.severity, c.meaning})
	}
	return table([]string{"check", "is", "when"}, rows)
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

const languageLimits = "## Limits\n\n"

const languageCosts = `
Larger Pods are evaluated too: an evaluation that comes to cost more than the limits, or takes two seconds, ends with an
error, as with a field that is absent.

## What expressions cost

In the API server's units, as its own estimator counts them for a Pod within the bounds. A million is about 0.1 s,
but for loops of tens of thousands of iterations, which take CEL longer; an expression takes a small part of that on Pods as
they are (see [performance.md](performance.md)).

`

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
