package testreport

import "time"

// Report is a list of suites in output order.
type Report struct {
	// Name is the program that wrote the report.
	Name   string
	Suites []Suite
}

// Suite is a group of cases.
type Suite struct {
	Name string
	// File is the file of the suite, or "" if it has none.
	File  string
	Cases []Case
}

// Case is the result of one check.
type Case struct {
	Name string
	// Line describes the case in formats without suites. The default is the name of the suite and of the case.
	Line     string
	Duration time.Duration
	// Failure is set if the case failed, Error if it could not run, and Skipped if it was not run. If all are nil, the
	// case passed.
	Failure, Error, Skipped *Reason
}

// Reason explains why a case did not pass.
type Reason struct {
	// Message is a single line, and Type a single word.
	Message, Type string
	// Detail is the full text.
	Detail string
	// Facts are the parts of Detail. If there are none, TAP shows Message and Detail.
	Facts []Fact
}

// Fact is a name and a value, written as YAML.
type Fact struct{ Name, Value string }
