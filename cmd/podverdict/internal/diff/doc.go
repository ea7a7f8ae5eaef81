// Package diff is the verb that says which verdicts change from one policy or Job to another.
package diff
