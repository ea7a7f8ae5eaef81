// Package engine has the verbs that answer requests for verdicts, and that ask other engines: engine and conformance.
package engine
