package recorder

import (
	"errors"
	"unicode/utf8"
)

// Reasons of events that several loops record. The first is upstream's (pkg/controller/controller_utils.go).
const (
	// ReasonFailedDelete is that of a Job whose pod cannot be deleted.
	ReasonFailedDelete = "FailedDelete"
	// ReasonInvalidPolicy is that of a Job whose podFailurePolicy has no meaning to us.
	ReasonInvalidPolicy = "InvalidPodFailurePolicy"
	// ReasonPanic is that of a Job which makes the controller panic.
	ReasonPanic = "ControllerPanic"
)

// Action is that of the events of Jobs and of what happens to their pods.
const Action = "Reconcile"

// PanicNote returns the note of an event about a panic.
func PanicNote(err error) string {
	return "Will try again after a defect of the controller: " + err.Error()
}

// MaxNote is how long the API server lets the note of an event be, in bytes.
const MaxNote = 1024

// Cut returns what of a note the API server takes.
func Cut(note string) string { return CutTo(note, MaxNote) }

// CutTo returns a text that is no longer than a number of bytes, and whose letters are whole. Three dots stand for what is left out.
func CutTo(text string, most int) string {
	const omission = "..."
	if len(text) <= most {
		return text
	}
	end := most - len(omission)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + omission
}

// CutError returns an error whose text is no longer than that of an event, so that it can be kept.
func CutError(err error) error {
	if err == nil || len(err.Error()) <= MaxNote {
		return err
	}
	return errors.New(Cut(err.Error()))
}
