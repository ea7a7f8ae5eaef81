package main

import (
	"bytes"
	"testing"
	"time"
)

// TestLine tests that a terminal gets one rewritten line, and other outputs an occasional line.
func TestLine(t *testing.T) {
	for name, tt := range map[string]struct {
		terminal bool
		since    time.Duration
		want     string
	}{
		"terminal":        {true, time.Second, "\r 25.0 %  1 of 4 pairs, 1 a second, 3s left\x1b[K\r\x1b[K"},
		"terminal, early": {true, time.Millisecond, "\r\x1b[K"},
		"file":            {false, 20 * time.Second, " 25.0 %  1 of 4 pairs, 1 a second, 3s left\n"},
		"file, early":     {false, time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			l := newLine(&out, 4, "pairs")
			l.terminal, l.start, l.shown = tt.terminal, l.start.Add(-time.Second), l.shown.Add(-tt.since)
			l.show(1)
			l.end()
			if out.String() != tt.want {
				t.Errorf("got %q, want %q", out.String(), tt.want)
			}
		})
	}
}
