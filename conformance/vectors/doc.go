// Package vectors holds the conformance vectors: questions about failed pods and about
// Jobs, each with the one answer that is right. [Run] puts them to an engine:
//
//	all, err := vectors.Verdicts()
//	report, err := vectors.Run(ctx, conformance.Go, all, vectors.Options{Engine: "go"})
//	err = report.WriteTable(os.Stdout)
//
// # A vector
//
// A vector is one file with one reason: <topic>/<reason>.txtar. It opens with a sentence
// that says what must be true, then the headers, then the changes to the base pod
// (base.yaml), the rules, and the verdict:
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
// [Verdicts] reads them, and refuses what it does not know: a vector that is read wrongly
// would pass for the wrong reason. [Vector.Request] is the question.
//
// # A vector of a Job
//
// Findings about a Job or CronJob have vectors of a second kind, in folders of their own:
// constraints/<topic>/<reason>.txtar has what the API server finds,
// guardrails/<topic>/<reason>.txtar what the guardrails find. Each changes the job.yaml of
// its folder, or the cronjob.yaml where the header is "#kind: CronJob":
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
// A vector with oldJob.patch is an update: oldJob.patch makes the stored object from the
// base, and job.patch makes the new object from the stored one. A text or a list may be
// repeated, as in "0" * 65536. errors.yaml lists {id, field, type, detail, msg},
// warnings.yaml lists what is accepted with a warning. A vector of guardrails has
// findings.yaml with {id, field, msg, severity}, and settings.yaml for the guardrails'
// parameters. The header #silent names constraints or guardrails that nearly find
// something: without one, a vector of a legal Job would prove nothing. The header
// "#upstream: panics" marks where the API server panics, and "#since: 1.35" what older ones do not have.
//
// [Constraints] and [Guardrails] read them, and [RunJobs] compares the findings of a
// [Judge]. A [Lens] leaves out of the comparison what that judge does not report.
package vectors
