// Package vectors contains the conformance vectors: questions about failed pods and about Jobs, each with its correct answer.
// [Run] runs them against an engine:
//
//	all, err := vectors.Verdicts()
//	report, err := vectors.Run(ctx, conformance.Go, all, vectors.Options{Engine: "go"})
//	err = report.WriteTable(os.Stdout)
//
// # A vector
//
// Each file <topic>/<reason>.txtar is a vector that tests one thing. It begins with a sentence that states the requirement,
// followed by the headers, the rules, the changes to the base pod (base.yaml), and the verdict:
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
// [Verdicts] loads them, and rejects unknown fields: a misread vector could pass for the wrong reason. [Vector.Request] is
// the question.
//
// # A vector about a Job
//
// Findings about a Job or CronJob have a second kind of vectors: constraints/<topic>/<reason>.txtar for the API server's
// findings, guardrails/<topic>/<reason>.txtar for the guardrails'. Each modifies the job.yaml of its folder, or the
// cronjob.yaml if it has the header "#kind: CronJob":
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
// A vector with oldJob.patch is an update: applying oldJob.patch to the base yields the stored object, and applying job.patch
// to that yields the new object. A string or a list may be repeated, as in "0" * 65536. errors.yaml lists {id, field, type,
// detail, msg}, and warnings.yaml does the same for warnings. A vector for guardrails has findings.yaml with {id, field, msg,
// severity}, and settings.yaml for the guardrails' parameters. The header #silent lists constraints or guardrails that come
// close to a finding: without it, a vector with a valid Job would prove nothing. The header "#upstream: panics" means that
// the API server panics, and "#since: 1.35" that older ones lack a field.
//
// [Constraints] and [Guardrails] load them, and [RunJobs] compares the findings of a [Judge]. A [Lens] excludes from the
// comparison what that judge does not report.
package vectors
