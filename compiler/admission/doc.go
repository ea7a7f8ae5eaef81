// Package admission generates admission policies for Jobs in CEL: the rules of the Rego bundle in
// policies/ as ValidatingAdmissionPolicies, and a platform's defaults for Jobs as
// MutatingAdmissionPolicies.
//
// A catalogue holds one CEL counterpart for each rule of the bundle. Title and KEP come from the rule's
// METADATA; a guardrail's settings and detail come from defaults.rego and details.rego (a test writes
// them into rules/guardrails.json). The CEL rules refer to a single Job by the names spec, root and
// settings. The target knows where an object contains Jobs, and expressions are rewritten for it:
//
//	Catalogue + Configuration -> Selection -> Target -> Policy -> YAML
//
// A target can be any kind of package kind. Package apiserver checks every generated policy as an API
// server would, and Estimate measures its cost. The server's packages link client-go, which the packages
// compiler and runtime do not.
package admission
