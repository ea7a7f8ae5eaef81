// Package catalogue lists the rules by which podverdict judges Jobs and custom policies: what the API server refuses, what
// breaks a guardrail, which failure rules mislead, and what the input itself has to say.
//
//	rule, ok := catalogue.Find("exit-codes-unsorted") // or F12, its id in the Rego bundle
//
// A rule's ID says what is wrong. Older ids remain as aliases, because other programs depend on them: they appear in the Rego
// packages, in messages of guardrails, and in names of generated admission policies. Reports show the ID with its aliases.
//
// The test of this package generates rules.json from pages/, from the METADATA of the rules in package policies, and from the
// settings there. Programs read rules.json, because it is faster than parsing the descriptions of a hundred rules, and only
// when they first need a rule. The list has no rules on the status of Jobs: they are for authors of Job controllers, and no
// command that reads manifests checks them.
package catalogue
