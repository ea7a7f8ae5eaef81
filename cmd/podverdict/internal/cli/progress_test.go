package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out, "Jobs validated", 3)
	if p.out != nil {
		t.Fatal("a buffer is taken for a terminal")
	}
	p.out = &out // pretend to be a terminal
	p.Step()
	p.End()
	if out.Len() != 0 {
		t.Errorf("a short run shows %q", out.String())
	}
	p.next = time.Time{}
	p.Step()
	p.Step() // too soon to be shown
	if want := "\rJobs validated: 2 of 3\x1b[K"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	p.End()
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("the line is left: %q", out.String())
	}
}

// The length of a list is unknown until it has been read.
func TestProgressWithoutTotal(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out, "objects read", 0)
	p.out, p.next = &out, time.Time{}
	p.Add(500)
	if want := "\robjects read: 500\x1b[K"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	p.begun, p.next = time.Now().Add(-10*time.Second), time.Time{}
	p.Add(500)
	if want := "\robjects read: 1000, 100 a second\x1b[K"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("after ten seconds got %q, want %q at the end", out.String(), want)
	}
	p.End()
	out.Reset()
	if p.End(); out.Len() > 0 {
		t.Errorf("cleared twice: %q", out.String())
	}
}
