// Package suites implements the test command. It reads suites of policy tests, runs their cases, and reports which rules
// the cases covered. Each case is a Pod and the verdict expected for it.
//
//	files, err := suites.Find([]string{"policies/"})
//	loader := suites.Loader{Kubernetes: compiler.DefaultVersion}
//	s, err := loader.Read(ctx, files[0].File)
//	report := suites.Report{Results: []suites.Result{s.Run(ctx, suites.Options{})}}
//	err = report.Write(stdout, "pretty")
//
// Suites are decoded strictly. A suite refers to its policies, Job and Pods by file name. Each case starts from the Pod of
// a named scenario, either built in or defined by the suite, and merges its own fields into that Pod. The verdict comes
// from the Program that a controller would build from the same policies, bindings and Job.
//
// A mistake in the suite, its files or its policies is an error with a position. An expectation that is not met is a
// failure that shows the wanted value, the actual value, and the outcome of each rule.
package suites
