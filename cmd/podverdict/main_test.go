package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/internal/testing/race"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata/script and in pages")

// programs are the commands available to scripts.
var programs = map[string]func(){"podverdict": main, "kubectl-podverdict": main}

func TestScript(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	params := testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", filepath.Join(root, "examples"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"append": appendRepeated,
			"code":   exitCode,
			"gzip":   gzipFile,
		},
	}
	if race.Enabled { // the other commands use one goroutine
		params.Dir, params.Files = "", []string{"testdata/script/check.txtar"}
	}
	testscript.Run(t, params)
}

// skipWithRace skips tests that run programs or use only one goroutine.
func skipWithRace(t *testing.T) {
	t.Helper()
	if race.Enabled {
		t.Skip("takes minutes with the race detector, and shares nothing")
	}
}

// appendRepeated implements the script command "append FILE N TEXT", which appends TEXT, with Go escapes, N times to
// FILE. The text @NAME stands for the content of the file NAME, in which {i} is replaced with the index from 0.
func appendRepeated(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: append FILE N TEXT")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text, fromFile := strings.CutPrefix(args[2], "@")
	if fromFile {
		text = ts.ReadFile(text)
	} else {
		text, err = strconv.Unquote(`"` + text + `"`)
		ts.Check(err)
	}
	file, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	ts.Check(err)
	defer file.Close()
	var all bytes.Buffer
	for i := range n {
		all.WriteString(strings.ReplaceAll(text, "{i}", strconv.Itoa(i)))
	}
	_, err = file.Write(all.Bytes())
	ts.Check(err)
}

// gzipFile implements the script command "gzip FILE", which replaces FILE with FILE.gz like the program of that name.
func gzipFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gzip FILE")
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := io.WriteString(writer, ts.ReadFile(args[0]))
	ts.Check(errors.Join(err, writer.Close()))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".gz"), packed.Bytes(), 0o600))
	ts.Check(os.Remove(ts.MkAbs(args[0])))
}

// exitCode implements the script command "code N ARGS...", which runs podverdict in the script's folder, like exec,
// and expects exit code N.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND [ARG...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit interface{ ExitCode() int }
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestUnwritableOutput(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{syscall.ENOSPC, "error: standard output: no space left on device\n"},
		{syscall.EPIPE, ""},
	} {
		var stderr bytes.Buffer
		code := run([]string{"podverdict", "version"}, strings.NewReader(""), brokenWriter{test.err}, &stderr)
		if code != cli.ExitError || stderr.String() != test.want {
			t.Errorf("%v: exit code %d, %q", test.err, code, stderr.String())
		}
	}
}
