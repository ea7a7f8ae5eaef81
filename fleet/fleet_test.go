package fleet_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/testing/dataset"
)

// programs is the folder with the binaries podverdict and podverdict-fleet.
var programs string

func TestMain(m *testing.M) { os.Exit(run(m)) } //nolint:forbidigo // main of the tests

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "podverdict-fleet")
	if err != nil {
		return 1
	}
	defer os.RemoveAll(dir)
	programs = dir
	for folder, program := range map[string]string{"..": "./cmd/podverdict", ".": "./cmd/podverdict-fleet"} {
		build := exec.Command("go", "build", "-ldflags=-s", "-o", dir, program)
		build.Dir, build.Stderr = folder, os.Stderr
		if build.Run() != nil {
			return 1
		}
	}
	return m.Run()
}

// policy reads a field of Pods that a report without policies does not keep.
const policy = `apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicy
metadata: {name: tried}
spec:
  rules:
  - name: once
    when: pod.spec.restartPolicy == 'Never' && pod.failedContainers().exists(c, c.exitCode == 1)
    action: Ignore
`

// generate returns one month of Jobs and Pods, run by podverdict's controller.
func generate(pods int) []gathering.Record {
	records := dataset.Generate(3, dataset.Options{Pods: pods, Plant: []string{"node", "code", "disruption"}}).Records
	for _, r := range records {
		if r.Job != nil {
			r.Job.Spec.ManagedBy = new(v1alpha1.JobController)
		}
	}
	return records
}

// shards writes records into n files, some of them compressed.
func shards(t *testing.T, records []gathering.Record, n int) (pattern string) {
	t.Helper()
	dir := t.TempDir()
	size := (len(records) + n - 1) / n
	for i := range n {
		from := min(i*size, len(records))
		var text bytes.Buffer
		if err := dataset.Write(&text, records[from:min(from+size, len(records))]); err != nil {
			t.Fatal(err)
		}
		name, in := filepath.Join(dir, fmt.Sprintf("%02d.ndjson", i)), text.Bytes()
		switch i % 3 {
		case 1:
			name, in = name+".gz", compressed(t, in, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
		case 2:
			name, in = name+".zst", compressed(t, in, func(w io.Writer) io.WriteCloser {
				encoder, err := zstd.NewWriter(w)
				if err != nil {
					t.Fatal(err)
				}
				return encoder
			})
		}
		write(t, name, in)
	}
	return filepath.Join(dir, "*")
}

func compressed(t *testing.T, text []byte, writer func(io.Writer) io.WriteCloser) []byte {
	t.Helper()
	var out bytes.Buffer
	w := writer(&out)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// command runs a program and returns its output. The error is the result of the process.
func command(t *testing.T, program string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, notes strings.Builder
	c := exec.CommandContext(t.Context(), filepath.Join(programs, program), args...)
	c.Stdout, c.Stderr = &out, &notes
	err = c.Run()
	return out.String(), notes.String(), err
}

// fleet returns the report of podverdict-fleet.
func fleet(t *testing.T, args ...string) (report, stderr string) {
	t.Helper()
	output := filepath.Join(t.TempDir(), "report.json")
	_, stderr, err := command(t, "podverdict-fleet", append(args, "--output", output)...)
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, stderr)
	}
	text, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), stderr
}

// expect returns the report of podverdict itself.
func expect(t *testing.T, pattern string, args ...string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s, %v", pattern, err)
	}
	report, stderr, err := command(t, "podverdict", slices.Concat([]string{"report", "-o", "json"}, args, files)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	return report
}

// TestReport checks that the report is identical to podverdict's, byte for byte, for several sets of shards, on Prism
// and in parts.
func TestReport(t *testing.T) {
	records := generate(3000)
	policies := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, policies, []byte(policy))
	whole := shards(t, records, 1)
	random := rand.New(rand.NewPCG(1, 2))
	shuffled := slices.Concat(records, records[:500], records[200:900])
	random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	same := []string{whole, shards(t, records, 64), shards(t, shuffled, 64)}

	for _, c := range []struct {
		args, native []string
		has          string
	}{
		{nil, nil, `"by": "reason"`},
		{
			[]string{"--since=2026-10-15", "--top=0", "--by=class,image,day"},
			[]string{"--since=2026-10-15", "--top=0", "--by=class,image,day"}, `"since": "2026-10-15T00:00:00Z"`,
		},
		{[]string{"--policies", policies, "--by=rule"}, []string{policies, "--by=rule"}, `"value": "tried/once"`},
	} {
		want := expect(t, whole, c.native...)
		if !strings.Contains(want, c.has) {
			t.Fatalf("%q: podverdict reports %s, want %s in it", c.args, want, c.has)
		}
		for i, pattern := range same {
			got, notes := fleet(t, append(c.args, "--input", pattern)...)
			if got != want {
				t.Errorf("%q: shards %d: Prism reports\n%s\nand podverdict\n%s", c.args, i, got, want)
			}
			if !strings.HasSuffix(notes, " Pods read, 0 lines that cannot be read left out, 0 Jobs without verdicts\n") {
				t.Errorf("notes: %s", notes)
			}
			if got := inParts(t, pattern, c.args); got != want {
				t.Errorf("%q: shards %d: parts report\n%s\nand podverdict\n%s", c.args, i, got, want)
			}
		}
	}
}

// inParts returns the report merged from four parts.
func inParts(t *testing.T, pattern string, args []string) string {
	t.Helper()
	dir := t.TempDir()
	for i := range 4 {
		part := []string{"--input", pattern, "--part", fmt.Sprintf("%d/4", i), "--output", filepath.Join(dir, fmt.Sprintf("%d.json", i))}
		if _, notes, err := command(t, "podverdict-fleet", append(args, part...)...); err != nil || notes != "" {
			t.Fatalf("part %d: %v\n%s", i, err, notes)
		}
	}
	got, _ := fleet(t, append(args, "--merge", filepath.Join(dir, "*.json"))...)
	return got
}

// TestBroken checks that a line that cannot be read is reported, skipped and counted, or ends the run with --strict.
// A truncated file, and a custom policy among the shards, always end the run.
func TestBroken(t *testing.T) {
	records := generate(100)
	pattern := shards(t, records, 4)
	want := expect(t, pattern)
	dir := filepath.Dir(pattern)
	bad := filepath.Join(dir, "bad.ndjson")
	write(t, bad, []byte("\n"+`{"apiVersion":"v1","kind":"Pod","metadata":{"name":5}}`+"\n"))
	write(t, filepath.Join(dir, "empty.ndjson"), nil)
	line := "podverdict-fleet: " + bad + ":2:52: metadata.name: expected a string, found a number: put it in quotes\n"

	got, notes := fleet(t, "--input", pattern)
	if got != want || !strings.HasPrefix(notes, line) || !strings.Contains(notes, " Pods read, 1 lines that cannot be read left out") {
		t.Errorf("left out: %s\nreport %s\nwant %s", notes, got, want)
	}
	output := filepath.Join(t.TempDir(), "report.json")
	fails := func(want string, args ...string) {
		t.Helper()
		_, notes, err := command(t, "podverdict-fleet", append(args, "--output", output)...)
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 || notes != want {
			t.Errorf("%q: %v, got\n%swant\n%s", args, err, notes, want)
		}
		if _, err := os.Stat(output); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q: there is a report", args)
		}
	}
	fails(line, "--input", pattern, "--strict")
	fails(line, "--input", pattern, "--strict", "--part", "0/2")
	fails("podverdict-fleet: no files matching pattern \"missing/*\"\n", "--input", "missing/*")
	fails("podverdict-fleet: --part 2/2: must be as 0/8, up to 7/8\n", "--input", pattern, "--part", "2/2")

	short := filepath.Join(dir, "short.ndjson.gz")
	text, err := os.ReadFile(filepath.Join(dir, "01.ndjson.gz"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, short, text[:len(text)/2])
	fails("podverdict-fleet: "+short+": cannot read: unexpected EOF\n", "--input", short)
	write(t, short, []byte(policy))
	fails("podverdict-fleet: "+short+": has custom policies, which are given with --policies\n", "--input", short)
}

// TestMissingPart checks that MergeParts requires all parts of one report, and rejects parts of another report.
func TestMissingPart(t *testing.T) {
	pattern := shards(t, generate(100), 1)
	dir := t.TempDir()
	part := func(name string, args ...string) {
		t.Helper()
		if _, notes, err := command(t, "podverdict-fleet", append(args, "--input", pattern, "--output", filepath.Join(dir, name))...); err != nil {
			t.Fatal(err, notes)
		}
	}
	merge := func(want string) {
		t.Helper()
		_, notes, err := command(t, "podverdict-fleet", "--merge", filepath.Join(dir, "*"), "--output", filepath.Join(dir, "report"))
		if err == nil || !strings.Contains(notes, want) {
			t.Errorf("%v, %s, want %s", err, notes, want)
		}
	}
	part("a", "--part", "0/2")
	merge("1 of 2 parts are there")
	part("b", "--part", "0/2")
	merge("b: is part 0, as " + filepath.Join(dir, "a"))
	part("b", "--part", "1/2", "--since", "2026-10-20")
	merge("b: is of another report")
	write(t, filepath.Join(dir, "b"), []byte("{}"))
	merge("b: is no part of a report")
}
