// Package repair changes the text of manifests so that findings go away that need no thought: exit codes that are not in order or
// twice there, rules for disruptions that come too late, and fields that guardrails ask for.
//
//	fixed, done, err := repair.Text(ctx, text, repair.Options{Inspect: inspectText})
//
// A repair changes few characters or lines, and leaves comments and layout as they are. Repairs are made one by one. After each the
// text is read again, and every Pod of the built-in scenarios and of the exit codes in question is judged by the Job before and
// after it: where a verdict changes that the repair is not about, it is taken back.
package repair
