// Package conformance holds engines that judge failed pods to KEP-3329 and
// KEP-3850: the vectors, the definition in plain Go, a runner with reports, and
// a protocol that any program can speak.
//
// # A vector
//
// One file, one reason: vectors/<topic>/<reason>.txtar. It opens with a sentence
// that says what must be true, then the headers, then what to change in the base
// pod (vectors/base.yaml), the rules, and the verdict:
//
//	A container that exits with a listed code fails the Job.
//	#kep: KEP-3329 JobSpec API
//	#semantics: A.2
//	#features: OnExitCodes, In, FailJob
//	-- rules.yaml --
//	- action: FailJob
//	  onExitCodes: {operator: In, values: [42, 43]}
//	-- pod.patch --
//	status.containerStatuses[0].state.terminated.exitCode: 42
//	-- verdict.yaml --
//	terminal: true
//	matched: true
//	action: FailJob
//	counted: true
//	rule: 0
//	container: main
//	exitCode: 42
//	message: Container main for pod default/p failed with exit code 42 matching FailJob rule at index 0
//
// [Vectors] reads them, and refuses what it does not know: a vector that is read
// wrongly would pass for the wrong reason. [Vector.Request] is the question that
// an [Engine] is asked, and [Run] compares the answers and makes a [Report].
//
// # A vector of a Job
//
// What is to be said of a Job or CronJob is in vectors of a second kind, in folders of their
// own: vectors/constraints/<topic>/<reason>.txtar has what the API server says,
// vectors/guardrails/... what the guardrails say. Each changes the job.yaml of its
// folder, or the cronjob.yaml where the header is "#kind: CronJob":
//
//	The number of failed indexes may change.
//	#kep: KEP-3850
//	#silent: U4, B4
//	-- oldJob.patch --
//	spec.completionMode: Indexed
//	spec.completions: 10
//	spec.backoffLimitPerIndex: 1
//	spec.maxFailedIndexes: 3
//	-- job.patch --
//	spec.maxFailedIndexes: 4
//	-- errors.yaml --
//	[]
//
// With oldJob.patch it is an update: oldJob.patch changes the base, and job.patch what has
// become of it. A text or a list may be repeated, as in "0" * 65536. errors.yaml lists
// {id, field, type, detail, msg}, warnings.yaml what is accepted with a warning; a
// guardrail's findings.yaml lists {id, field, msg, severity}, for the settings.yaml. The
// header #silent names constraints or guardrails that nearly find something: a vector
// of a legal Job proves nothing without. "#upstream: panics" is there where the API server does.
//
// [ConstraintVectors] and [GuardrailVectors] read them, and [RunJobs] compares what a
// [Judge] says, through a [Lens] where it says less.
//
// # Semantics
//
// The policy of a request is taken as it is stored, as the Job controller takes
// it: a policy that the API server would refuse has a verdict too (unknown
// actions and operators never match), and defaults are not filled in. The pod's
// phase gate, which upstream has in the matcher's callers, is part of the
// question: a pod in any phase but Failed is not terminal. A pod without a phase
// is judged as a failed one.
//
// [Go] is the definition, to be read against the KEPs. [CEL] is the product; it has
// an error instead of a verdict where compiler.Environment.Compile refuses a rule,
// one that asks for more than a hundred different condition statuses. [Exec] is anybody's program that speaks the protocol of [Serve].
package conformance
