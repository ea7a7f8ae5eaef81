package testreport

import "time"

// Report is a list of suites, in the order in which they are written.
type Report struct {
	// Name is the program that made the report.
	Name   string
	Suites []Suite
}

// Suite is a group of cases.
type Suite struct {
	Name string
	// File is the suite's file, if it has one.
	File  string
	Cases []Case
}

// Case is the result of one check.
type Case struct {
	Name string
	// Line describes the case in formats without suites. By default it is the suite's name and the case's.
	Line     string
	Duration time.Duration
	// Failure is set if the case failed, Error if it could not be run, and Skipped if it was not run. Otherwise it passed.
	Failure, Error, Skipped *Reason
}

// Reason says why a case did not pass.
type Reason struct {
	// Message is a line, and Type a word.
	Message, Type string
	// Detail is the full text.
	Detail string
	// Facts are the parts of the detail. Without them, TAP shows the detail as one.
	Facts []Fact
}

// Fact is a name and a value, which is written as YAML.
type Fact struct{ Name, Value string }
