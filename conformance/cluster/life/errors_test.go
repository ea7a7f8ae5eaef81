package life

import "fmt"

// DifferenceError reports that the facts at a checkpoint differ from those in the life.
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
