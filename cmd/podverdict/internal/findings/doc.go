// Package findings writes what check found in Jobs, in the formats that people, editors and CI systems read.
//
//	r := report.Report{Subjects: []report.Subject{{Name: "default/demo", File: "job.yaml", Findings: found}}}
//	err := r.Write(stdout, "sarif")
//
// A Subject is a Job that was looked at. Those without findings matter too: JUnit and TAP list them as passed, so that
// a report on nothing cannot be taken for a report without findings.
package findings
