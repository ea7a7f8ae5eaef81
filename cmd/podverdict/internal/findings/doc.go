// Package findings writes the findings of check, in the formats that people, editors and CI systems read.
//
//	r := findings.Report{Subjects: []findings.Subject{{Name: "default/demo", File: "job.yaml", Findings: found}}}
//	err := r.Write(stdout, "sarif")
//
// A Subject is an inspected object. Subjects without findings matter too: JUnit and TAP list them as passed, so that an empty report
// cannot be confused with a report without findings.
package findings
