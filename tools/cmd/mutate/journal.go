package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
)

// outcome is what is known of a mutant, and a line of the journal.
type outcome struct {
	mutant

	Sum     string   `json:"source"`           // of the file that it changes
	Ran     []string `json:"ran,omitempty"`    // the packages whose tests ran
	Killed  string   `json:"killed,omitempty"` // by this test
	Seconds float64  `json:"seconds"`
}

func (o *outcome) String() string {
	end := "SURVIVED"
	if o.Killed != "" {
		end = "killed by " + o.Killed
	}
	before, after := strings.Join(strings.Fields(o.Before), " "), strings.Join(strings.Fields(o.After), " ")
	return fmt.Sprintf("%s:%d:%d %s %q -> %q %s (%.0f s)", o.File, o.Line, o.Column, o.Operator, before, after, end, o.Seconds)
}

// journal is the file of results. The last line on a mutant counts.
type journal struct {
	again bool
	known map[string]*outcome

	lock sync.Mutex
	file *os.File
}

func openJournal(o options) (*journal, error) {
	file, err := os.OpenFile(o.results, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{again: o.again, known: map[string]*outcome{}, file: file}
	for lines := json.NewDecoder(bufio.NewReader(file)); lines.More(); {
		known := &outcome{}
		if err := lines.Decode(known); err != nil {
			return nil, fmt.Errorf("%s: %w", o.results, err)
		}
		j.known[known.key()] = known
	}
	return j, nil
}

// outcome returns what the journal has on the mutant of these sources, or a new one.
func (j *journal) outcome(m *mutant) *outcome {
	sum := fmt.Sprintf("%x", sha256.Sum256(m.file.source))[:12]
	known := j.known[m.key()]
	if known == nil || known.Sum != sum || j.again && known.Killed == "" {
		known = &outcome{Sum: sum}
	}
	known.mutant = *m
	return known
}

func (j *journal) write(o *outcome) error {
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	j.lock.Lock()
	defer j.lock.Unlock()
	_, err = j.file.Write(append(line, '\n'))
	return err
}
