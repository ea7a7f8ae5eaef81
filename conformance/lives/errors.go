package lives

import (
	"errors"
	"fmt"
	"strings"
)

// StepError says which step of a life could not be played.
type StepError struct {
	Number int // from 1
	Step   string
	Facts  Facts // what was there then
	Err    error
}

func (e *StepError) Error() string {
	return fmt.Sprintf("step %d (%s): %v; there is:\n%s", e.Number, e.Step, e.Err, text(e.Facts))
}

func (e *StepError) Unwrap() error { return e.Err }

// DifferenceError is a difference between what a life says of a checkpoint and what was there.
type DifferenceError struct {
	Checkpoint string
	Want, Got  Facts
}

func (e *DifferenceError) Error() string {
	return fmt.Sprintf("at %s want:\n%sgot:\n%s", e.Checkpoint, text(e.Want), text(e.Got))
}

func text(facts Facts) string {
	written, err := facts.format()
	if err != nil {
		return err.Error()
	}
	return string(written)
}

var (
	errNoSource     = errors.New(`one of the headers "#kep", "#semantics" and "#upstream" is required`)
	errNoSteps      = errors.New("section steps.yaml is missing or empty")
	errNoJob        = errors.New("section job.yaml is missing")
	errNoSettle     = errors.New("the last step must be settle")
	errManaged      = errors.New("spec.managedBy is for who plays the life")
	errNotOneAction = errors.New("a step is exactly one of start, exit, restart, stop, delete, evict, edit, deleteJob, createJob, await and settle")
	errNoPods       = errors.New("pods is empty")
	errNoEdit       = errors.New("edit changes nothing")
	errNoEnd        = errors.New("one of code, codes and conditions is required")
	errTwoEnds      = errors.New("code and codes exclude each other")
	errRestarts     = errors.New("count must be at least 1")
	errAttempt      = errors.New("pods of a Job without indexes are numbered in the order of their creation, without attempts")
	errNoDifference = errors.New("differs in nothing")
	errException    = errors.New(`header "#differs" and sections <checkpoint>.differs.yaml come together`)
	errLost         = errors.New("the watch is lost")
)

func errPodReference(text string) error {
	return fmt.Errorf("%s is no pod: want a number, or index/attempt as in 2/1", text)
}

func errStep(number int, err error) error { return fmt.Errorf("step %d: %w", number, err) }

func errTwice(what string) error { return fmt.Errorf("%s appears twice", what) }

func errMissingSection(name string) error {
	return fmt.Errorf("section %s is missing; go test -update writes it", name)
}

func errCheckpointName(name string) error {
	return fmt.Errorf("checkpoint %q: want lower-case-with-dashes, but not job or steps", name)
}

func errUnknown(what, value string, known []string) error {
	return fmt.Errorf("unknown %s %q; known are %s", what, value, strings.Join(known, ", "))
}

func errContainer(name string) error { return fmt.Errorf("the Job has no container %q", name) }

func errWaiting(what string, err error) error { return fmt.Errorf("waiting for %s: %w", what, err) }
