// Package check is the verb that finds what is wrong with Jobs and custom policies, and repairs what can be repaired, and the verb that
// lists what it looks for.
//
// Findings carry the ids of package catalogue. Rules of custom policies are run on the built-in scenarios, and so is what a hint
// proposes: a hint that does not compile, fails, or decides otherwise is not given. A document that cannot be read is a finding, too, so
// that a report says the same in every format.
//
// Repairs are made one at a time. After each, the text is read again: it must differ from the text before in what the repair changes,
// and in nothing else.
package check
