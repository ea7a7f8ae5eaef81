// Package admission writes admission policies for Jobs in CEL: what the Rego bundle in
// policies/ holds Jobs to, as ValidatingAdmissionPolicies, and a platform's defaults for
// Jobs, as MutatingAdmissionPolicies.
//
// A catalogue holds one CEL twin for each rule of the bundle; title and KEP are those of
// the rule's METADATA, and a guardrail's settings and detail those of defaults.rego and
// details.rego (a test writes them into rules/guardrails.json). The twins speak of one Job: of spec, root
// and settings. Where the Jobs stand in an object is the target's business, and
// expressions are rewritten for it:
//
//	Catalogue + Configuration -> Selection -> Target -> Policy -> YAML
//
// The kinds that a target may have are those of package kind. Every policy goes through
// package apiserver before anybody sees it: it is checked as an API server would, and
// Estimate measures what it costs. The server's packages link client-go, which the
// packages compiler and runtime do not.
package admission
