// Package suites is the verb test, which tests policies: it reads suites of cases, each a Pod and the verdict that it must
// get, runs them, and reports which rules they have tried.
//
//	files, err := suites.Find([]string{"policies/"})
//	loader := suites.Loader{Kubernetes: compiler.DefaultVersion}
//	s, err := loader.Read(ctx, files[0].File)
//	report := suites.Report{Results: []suites.Result{s.Run(ctx, suites.Options{})}}
//	err = report.Write(stdout, "pretty")
//
// A suite is read strictly, and names its policies, its Job and Pods by file. Each case takes a Pod by the name of a
// scenario, built in or the suite's own, and says what is different in it: a tree that is merged into the typed Pod. The
// verdict is that of the Program which a controller would make of the same policies, bindings and Job.
//
// A mistake in the suite, its files or its policies is an error with a place. An expectation that is not met is a failure,
// with what was expected, what happened, and what each rule did.
package suites
