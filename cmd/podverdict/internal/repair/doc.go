// Package repair changes the text of manifests so that findings go away that need no thought: exit codes that are not in order or
// twice there, rules for disruptions that come too late, and fields that guardrails ask for.
//
//	result, err := repair.Text(ctx, text, repair.Options{Inspect: inspectText})
//
// A repair changes few characters or lines, and leaves comments and layout as they are, in YAML and JSON. What is behind an anchor is
// left alone, since it may be written once for several Jobs. Repairs are made one by one. After each the text is read again, and every
// Pod of the built-in scenarios and of the exit codes in question is judged by the Job before and after it: where a verdict changes
// that the repair is not about, it is taken back. The result says why findings are left.
package repair
