//go:build cluster

package install

import (
	"bytes"
	"flag"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var from = flag.String("from", "", "the commit whose controller has the Jobs before this one's, and again; none without it")

// TestVersions hands Jobs from another commit's controller to this one, and back.
func TestVersions(t *testing.T) {
	if *from == "" {
		t.Skip("there is no -from")
	}
	other := launch(build(t, *from))
	w := newShared(t)
	indexed := slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return !k.indexed })
	back, knows := indexed, knowsNames(t, *from)
	if knows {
		back = kinds
	}
	for _, test := range []struct {
		name      string
		kinds     []kind
		launchers [][]string
	}{
		{"up", kinds, [][]string{other, nil}},
		{"up and back and up", back, [][]string{other, nil, other, nil}},
		{"back and up", back, [][]string{nil, other, nil}},
		{"back", back[:1], [][]string{nil, other}},
	} {
		t.Run(test.name, func(t *testing.T) {
			trials := w.newTrials(t, test.kinds, len(test.launchers), mixed)
			for _, r := range trials {
				r.renumbered = !knows && test.name != "up"
			}
			for leg, launcher := range test.launchers {
				w.run(t, launcher, leg, trials)
			}
			for _, r := range trials {
				w.check(t, r)
			}
		})
	}
}

// knowsNames reports whether a commit's program can read attempt numbers from this version's Pod names.
func knowsNames(t *testing.T, commit string) bool {
	t.Helper()
	return exec.CommandContext(t.Context(), "git", "cat-file", "-e", commit+":controller/plan/code.go").Run() == nil
}

// build returns the path of the program of a commit.
func build(t *testing.T, commit string) (program string) {
	t.Helper()
	folder := t.TempDir()
	program = filepath.Join(folder, "podverdict-controller")
	top := strings.TrimSpace(string(outputOf(t, exec.CommandContext(t.Context(), "git", "rev-parse", "--show-toplevel"))))
	archive := outputOf(t, exec.CommandContext(t.Context(), "git", "-C", top, "archive", commit))
	extract := exec.CommandContext(t.Context(), "tar", "-x", "-C", folder)
	extract.Stdin = bytes.NewReader(archive)
	outputOf(t, extract)
	outputOf(t, exec.CommandContext(t.Context(), "go", "build", "-C", folder, "-o", program, "./cmd/podverdict-controller"))
	return program
}

func outputOf(t *testing.T, command *exec.Cmd) []byte {
	t.Helper()
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", command, err, out, &stderr)
	}
	return out
}

// launch returns a launcher that runs another program instead of its first argument.
func launch(program string) []string {
	return []string{"/bin/sh", "-c", `shift; exec "$0" "$@"`, program}
}
