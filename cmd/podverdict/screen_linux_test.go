package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
	"unsafe"
)

// openTerminal returns a pseudo-terminal, and a function that closes it and returns everything written to it.
func openTerminal(t *testing.T, columns uint16) (*os.File, func() string) {
	t.Helper()
	reader, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close() })
	var number, locked int32
	size := [4]uint16{24, columns}
	control := func(request uintptr, value unsafe.Pointer) {
		if _, _, failure := syscall.Syscall(syscall.SYS_IOCTL, reader.Fd(), request, uintptr(value)); failure != 0 {
			t.Fatal(failure)
		}
	}
	control(syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	control(syscall.TIOCGPTN, unsafe.Pointer(&number))
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	control(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	var written bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(&written, reader) // returns an error when the terminal is closed
	}()
	return terminal, func() string {
		terminal.Close()
		<-done
		return strings.ReplaceAll(written.String(), "\r\n", "\n")
	}
}

// TestWidth checks that on a terminal with 80 columns, only unbreakable words exceed the width, and that a pipe gets one line per
// finding.
func TestWidth(t *testing.T) {
	skipWithRace(t)
	for _, args := range []string{
		"rules", "check testdata/manifests", "check testdata/manifests --only rules",
	} {
		command := append([]string{"podverdict"}, strings.Fields(args)...)
		screen, written := openTerminal(t, 80)
		code := run(command, strings.NewReader(""), screen, io.Discard)
		shown := written()
		for line := range strings.Lines(shown) {
			line = strings.TrimRight(line, "\n")
			if utf8.RuneCountInString(line) > 80 && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%s: longer than 80 characters: %s", args, line)
			}
		}
		var piped bytes.Buffer
		if other := run(command, strings.NewReader(""), &piped, io.Discard); other != code {
			t.Errorf("%s: exit code %d on a terminal, %d in a pipe", args, code, other)
		}
		if strings.Join(strings.Fields(piped.String()), "") == "" || strings.Count(piped.String(), "\n") >= strings.Count(shown, "\n") {
			t.Errorf("%s: a pipe gets as many lines as a terminal:\n%s", args, piped.String())
		}
	}
}
