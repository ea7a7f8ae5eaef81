// Package engine implements the engine command, which answers requests for verdicts, and the conformance command,
// which tests other engines.
package engine
