// Package repair changes the text of manifests so that findings are gone: exit codes that are not sorted or appear twice, and rules for
// disruptions after rules on exit codes. Limits that guardrails ask for are suggestions, made only if the user wants them.
//
//	result, err := repair.Text(ctx, text, repair.Options{Inspect: inspectText})
//
// A repair changes few characters or lines and keeps comments and layout, in YAML and JSON. Text behind an anchor is not changed, since
// it may stand for several Jobs. Repairs are made one at a time. After each, the text is read again: it must differ from the text before
// in what the repair changes, and in nothing else. The result says why findings are left.
package repair
