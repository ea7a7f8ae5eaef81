package main

import (
	"errors"
	"time"
)

// moment is the value of --now, and the time of the run without it.
type moment time.Time

func (m *moment) String() string {
	if time.Time(*m).IsZero() {
		return ""
	}
	return time.Time(*m).Format(time.RFC3339)
}

// Type is what help shows for the value.
func (m *moment) Type() string { return "time" }

// Set takes the value given.
func (m *moment) Set(text string) error {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.IsZero() {
		return errors.New("must be a time as 2026-11-22T06:00:00Z")
	}
	*m = moment(t)
	return nil
}

// begin takes the time of the run, if no other was given.
func (m *moment) begin() {
	if time.Time(*m).IsZero() {
		*m = moment(time.Now())
	}
}
