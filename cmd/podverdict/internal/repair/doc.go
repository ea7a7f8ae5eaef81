// Package repair changes the text of manifests where a finding can be repaired without a decision of the user: exit codes that are not
// sorted or appear twice, and rules for disruptions that come too late. Fields that guardrails ask for are suggestions, which are made
// if the user wants them.
//
//	result, err := repair.Text(ctx, text, repair.Options{Inspect: inspectText})
//
// A repair changes few characters or lines, and leaves comments and layout as they are, in YAML and JSON. What is behind an anchor is
// left alone, since it may be written once for several Jobs. Repairs are made one by one. After each, the text is read again, and the
// Job before and after it evaluates every Pod of the built-in scenarios and of the exit codes in question, and lives some simulated
// lives. A repair that changes a verdict or a life which it should not change is taken back. The result says why findings are left.
package repair
