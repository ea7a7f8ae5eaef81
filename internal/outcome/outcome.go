package outcome

import "time"

// Report is suites of cases, in the order in which they are written.
type Report struct {
	// Name is what has made it.
	Name   string
	Suites []Suite
}

// Suite is cases that belong together.
type Suite struct {
	Name string
	// File is where the suite is, if it is in one.
	File  string
	Cases []Case
}

// Case is one thing that was tried.
type Case struct {
	Name string
	// Line says it where there are no suites; empty is the name of the suite and that of the case.
	Line     string
	Duration time.Duration
	// Failure is set when it does not hold, Error when it could not be tried, Skipped when it was not. Otherwise it holds.
	Failure, Error, Skipped *Reason
}

// Reason says why a case does not hold.
type Reason struct {
	// Message is a line, and Type a word.
	Message, Type string
	// Detail is all that there is to say.
	Detail string
	// Facts are the detail in parts; without them it is one of its own.
	Facts []Fact
}

// Fact is a name and a value, which is written as YAML.
type Fact struct{ Name, Value string }
