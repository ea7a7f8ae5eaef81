// Package catalogue lists the rules by which podverdict judges Jobs and custom policies: what the API server refuses, what
// breaks a guardrail, which failure rules mislead, and what the input itself has to say.
//
//	rule, ok := catalogue.Find("exit-codes-unsorted") // or F12, its id in the Rego bundle
//
// A rule's ID says what is wrong. Older ids stay as aliases, because they name things that other programs depend on: the Rego
// packages, the messages of guardrails in them, and the names of generated admission policies. Reports show the ID and give
// the aliases beside it.
//
// The test of this package generates rules.json from pages/, from the METADATA of the rules in package policies, and from the
// settings there. Programs read it when they first ask for a rule: parsing the descriptions of a hundred rules takes longer. Rules on
// the status of Jobs are not in the list: they are for authors of Job controllers, and no verb that reads manifests asks them.
package catalogue
