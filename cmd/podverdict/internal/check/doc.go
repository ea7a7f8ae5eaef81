// Package check implements the verb check, which finds problems in Jobs and custom policies and repairs some of them, and the verb rules,
// which lists the rules of check.
//
// Findings carry the ids of package catalogue. Rules of custom policies are run on the built-in scenarios. So is the proposal of each
// hint: if it does not compile, fails, or changes verdicts, the hint is dropped. An unreadable document is a finding, too, so that the
// report is the same in every format.
//
// Repairs are made one at a time. After each repair, the text is read again: exactly the fields that the repair changes must differ.
package check
