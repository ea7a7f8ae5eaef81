// Package inspect finds what is wrong with Jobs and custom policies. The verb check prints it.
//
//	subjects, err := inspect.Inspect(ctx, set, inspect.Options{Validator: validator, Kubernetes: "1.37"})
//	subjects = choice.Apply(subjects, set)
//
// A Job is asked twice: the Rego bundle has the constraints of the API server and the guardrails, and package
// compiler looks for rules that do not do what they seem to. If both find the same thing in the same place, it is reported
// once. Findings carry the ids of package catalogue.
//
// Rules of custom policies are run on the built-in scenarios, and so is what a hint proposes: a hint that does not compile, fails, or
// decides otherwise is not given.
//
// A document that cannot be read is a finding, too ([Unreadable]), so that a report says the same in every format. A [Choice]
// then leaves out what the user does not want to see, and what comments and annotations in the manifests ignore.
package inspect
