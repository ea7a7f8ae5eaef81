package controller

import (
	"errors"
	"unicode/utf8"
)

// Reasons of events that several loops record. The first is upstream's (pkg/controller/controller_utils.go).
const (
	reasonFailedDelete = "FailedDelete"
	// reasonInvalidPolicy is that of a Job whose podFailurePolicy has no meaning to us.
	reasonInvalidPolicy = "InvalidPodFailurePolicy"
	// reasonPanic is that of a Job which makes the controller panic.
	reasonPanic = "ControllerPanic"
)

// eventAction is what the controller was doing when something happened to a Job.
const eventAction = "Reconcile"

// panicNote is the note of an event about a panic.
func panicNote(err error) string {
	return "Will try again after a defect of the controller: " + err.Error()
}

// maxNote is how long the API server lets the note of an event be, in bytes.
const maxNote = 1024

// cut keeps a note within what the API server takes, which is counted in bytes, and its letters whole.
func cut(note string) string { return shortened(note, maxNote) }

func shortened(text string, most int) string {
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

// shortError is an error whose text is no longer than an event lets it be, so that it can be kept.
func shortError(err error) error {
	if err == nil || len(err.Error()) <= maxNote {
		return err
	}
	return errors.New(cut(err.Error()))
}
