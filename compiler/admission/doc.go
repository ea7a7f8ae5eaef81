// Package admission writes admission policies for the API server in CEL: what the
// Rego bundle in policies/ holds Jobs to, as ValidatingAdmissionPolicies, and a
// platform's defaults for Jobs, as MutatingAdmissionPolicies.
//
// A catalogue holds one CEL twin for each rule of the bundle; title, severity and
// KEP are those of the rule's METADATA. The twins speak of one Job: of spec, root
// and settings. Where the Jobs stand in an object is the target's business, and
// expressions are rewritten for it:
//
//	Catalogue + Configuration -> Selection -> Target -> Policy -> Check -> YAML
//
// Every expression of a policy goes through the API server's own type checker
// before anybody sees it, and Evaluator answers as the API server would, with its
// own packages. That links client-go, which the packages compiler and runtime do
// not.
package admission
