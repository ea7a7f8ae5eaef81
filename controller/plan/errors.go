package plan

import (
	"errors"
	"fmt"
)

func errAnnotation(text string, t tuning) error {
	return fmt.Errorf("metadata.annotations[%s]: Invalid value: %q: must be an integer from %d to %d", t.name, text, t.least, t.most)
}

func errLedger(text string, err error) error {
	return fmt.Errorf("metadata.annotations[%s]: Invalid value: %q: %w", LedgerAnnotation, text, err)
}

func errLedgerNegative(number int) error {
	return fmt.Errorf("failed is %d, must not be negative", number)
}

func errLedgerExceeds(recorded, failed int) error {
	return fmt.Errorf("records %d failures, but status.failed is %d", recorded, failed)
}

func errLedgerBackoff() error {
	return errors.New("backoff needs a positive number of failures, and a time")
}
