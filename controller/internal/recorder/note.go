package recorder

import (
	"errors"
	"unicode/utf8"
)

// Reasons of events that several loops record. The first is upstream's (pkg/controller/controller_utils.go).
const (
	// ReasonFailedDelete means that a pod of the Job cannot be deleted.
	ReasonFailedDelete = "FailedDelete"
	// ReasonInvalidPolicy means that the Job's podFailurePolicy does not compile.
	ReasonInvalidPolicy = "InvalidPodFailurePolicy"
	// ReasonPanic means that the controller panicked while handling the Job.
	ReasonPanic = "ControllerPanic"
)

// Action is the action of events about Jobs and their pods.
const Action = "Reconcile"

// PanicNote returns the note of an event about a panic.
func PanicNote(err error) string {
	return "Will try again after a defect of the controller: " + err.Error()
}

// MaxNote is the API server's limit for the note of an event, in bytes.
const MaxNote = 1024

// Cut shortens a note to the API server's limit.
func Cut(note string) string { return CutTo(note, MaxNote) }

// CutTo shortens text to at most the given number of bytes, without splitting characters. Three dots replace the
// omitted part.
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

// CutError returns an error whose text is at most MaxNote bytes long, so that it can be stored.
func CutError(err error) error {
	if err == nil || len(err.Error()) <= MaxNote {
		return err
	}
	return errors.New(Cut(err.Error()))
}
