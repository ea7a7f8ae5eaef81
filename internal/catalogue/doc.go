// Package catalogue lists the rules by which podverdict checks Jobs and custom policies: constraints of the API server,
// guardrails, checks for misleading failure rules, and checks of the input itself.
//
//	rule, ok := catalogue.Find("exit-codes-unsorted") // or F12, its id in the Rego bundle
//
// The ID of a rule describes the mistake. Older ids remain as aliases, because other programs depend on them: they appear in
// the Rego packages, in messages of guardrails, and in names of generated admission policies. Reports show the ID with its
// aliases.
//
// The test of this package generates rules.json from pages/, from the METADATA of the rules in package policies, and from the
// settings there. Programs read rules.json when they first need a rule, because this is faster than parsing the descriptions
// of a hundred rules. The list omits the rules on the status of Jobs, which are meant for authors of Job controllers and are
// not checked by any command that reads manifests.
package catalogue
