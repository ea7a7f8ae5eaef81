// Package reports has the result of a conformance run, by vector, and writes it as a table for people, as JSON, and as JUnit
// XML for CI systems.
package reports
