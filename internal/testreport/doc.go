// Package testreport writes the results of test cases in the formats that CI systems read: JUnit XML and TAP, the Test Anything
// Protocol.
//
//	report := testreport.Report{Name: "podverdict check", Suites: []testreport.Suite{{Name: "job default/demo", Cases: cases}}}
//	err := report.WriteJUnit(stdout)
package testreport
