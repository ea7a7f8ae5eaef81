package life

import "fmt"

// StepError is the error of a step that could not be played.
type StepError struct {
	Number int // from 1
	Step   string
	Facts  Facts // the facts at that time
	Err    error
}

func (e *StepError) Error() string {
	return fmt.Sprintf("step %d (%s): %v; there is:\n%s", e.Number, e.Step, e.Err, text(e.Facts))
}

func (e *StepError) Unwrap() error { return e.Err }

// DifferenceError means that the facts at a checkpoint are not those in the life.
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
