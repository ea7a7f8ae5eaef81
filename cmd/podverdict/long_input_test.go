package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
)

const longPolicy = `{"rules":[{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]},` +
	`{"action":"FailJob","onExitCodes":{"containerName":"main","operator":"In","values":[2,42,126,127]}},` +
	`{"action":"Count","onExitCodes":{"operator":"In","values":[13,42,77]}}]}`

const longJob = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"train","namespace":"default","uid":"1"},"spec":{"podFailurePolicy":` +
	longPolicy + `,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"app"}]}}}}`

// longPod returns a failed Pod as the API server returns it, with about 1 KB or, if full, 1 to 10 containers and 8 to 31 KB.
func longPod(random *rand.Rand, i int, full bool) string {
	var spec, status []string
	containers := 1
	if full {
		containers = 1 + i%10
	}
	digest := strings.Repeat("0a1b", 16)
	for c := range containers {
		name := fmt.Sprintf("sidecar-%d", c)
		if c == 0 {
			name = "main"
		}
		env, message := "", ""
		if full {
			pairs := make([]string, 80+10*(10-containers)/(1+c))
			for e := range pairs {
				pairs[e] = fmt.Sprintf(`{"name":"VARIABLE_%d","value":"%050d"}`, e, e)
			}
			if c > 0 {
				pairs = pairs[:12]
			}
			env = `,"env":[` + strings.Join(pairs, ",") + `],"volumeMounts":[{"name":"data","mountPath":"/data"}]`
			message = `,"message":"` + strings.Repeat(`a line of the log\n`, 20) + `"`
		}
		spec = append(spec, fmt.Sprintf(`{"name":%q,"image":"registry.example/app:1.0","resources":{}%s}`, name, env))
		code := [...]int{0, 1, 2, 13, 42, 77, 137, 143}[random.IntN(8)]
		status = append(status, fmt.Sprintf(`{"name":%q,"image":"registry.example/app:1.0","imageID":"registry.example/app@sha256:%s","ready":false,`+
			`"restartCount":0,"state":{"terminated":{"exitCode":%d,"reason":"Error","startedAt":"2026-06-15T09:00:37Z","finishedAt":"2026-06-15T09:01:37Z"%s}}}`,
			name, digest, code, message))
	}
	condition := ""
	if random.IntN(4) == 0 {
		condition = `,{"type":"DisruptionTarget","status":"True","lastTransitionTime":"2026-06-15T09:01:37Z","reason":"EvictionByEvictionAPI"}`
	}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"train-%d-x7k2p","namespace":"default","uid":"7f8a-%d",`+
		`"labels":{"batch.kubernetes.io/job-name":"train"},"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"train","uid":"1","controller":true}]},`+
		`"spec":{"restartPolicy":"Never","containers":[%s],"nodeName":"node-1"},"status":{"phase":"Failed","conditions":[{"type":"Ready","status":"False",`+
		`"lastTransitionTime":"2026-06-15T09:01:37Z","reason":"PodFailed"}%s],"containerStatuses":[%s]}}`,
		i, i, strings.Join(spec, ","), condition, strings.Join(status, ","))
}

// writeLong writes a Job and its Pods to a file, as lines or as a List, and returns the file name.
func writeLong(tb testing.TB, n int, full, list bool) string {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "pods.json")
	file, err := os.Create(name)
	if err != nil {
		tb.Fatal(err)
	}
	out, random := bufio.NewWriter(file), rand.New(rand.NewPCG(8, 31))
	begin, between, end := "", "\n", "\n"
	if list {
		begin, between, end = `{"apiVersion":"v1","items":[`, ",\n", `],"kind":"List","metadata":{}}`+"\n"
	}
	fmt.Fprint(out, begin, longJob)
	for i := range n {
		fmt.Fprint(out, between, longPod(random, i, full))
	}
	fmt.Fprint(out, end)
	if err := out.Flush(); err != nil {
		tb.Fatal(err)
	}
	if err := file.Close(); err != nil {
		tb.Fatal(err)
	}
	return name
}

// evaluated returns the output of eval.
func evaluated(tb testing.TB, stdin io.Reader, args ...string) []byte {
	tb.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(append([]string{"podverdict", "eval"}, args...), stdin, &stdout, &stderr); code != cli.ExitFine {
		tb.Fatalf("exit code %d: %s", code, stderr.String())
	}
	return stdout.Bytes()
}

// TestLongInput checks that streamed input gets the same verdicts as from the engine, in every form.
func TestLongInput(t *testing.T) {
	n := 25_000
	if testing.Short() {
		n = 18_000 // just above the limit for keeping input in memory
	}
	lines := writeLong(t, n, false, false)
	got := evaluated(t, nil, "-f", lines, "-o", "ndjson")
	if want := engineVerdicts(t, lines); !slices.Equal(want, verdictsOf(t, got)) {
		t.Error("the engine has other verdicts")
	}
	if testing.Short() {
		return
	}
	if list := evaluated(t, nil, "-f", writeLong(t, n, false, true), "-o", "ndjson"); !bytes.Equal(got, list) {
		t.Error("a List has other verdicts than lines")
	}
	text, err := os.ReadFile(lines)
	if err != nil {
		t.Fatal(err)
	}
	job, pods, _ := bytes.Cut(text, []byte("\n"))
	last := io.MultiReader(bytes.NewReader(pods), bytes.NewReader(job))
	if reversed := evaluated(t, last, "-f", "-", "-o", "ndjson"); !bytes.Equal(got, reversed) {
		t.Error("other verdicts when the Job comes last")
	}
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(evaluated(t, nil, "-f", lines, "-o", "json"), &list); err != nil || len(list.Items) != n {
		t.Errorf("%d items in JSON, error %v", len(list.Items), err)
	}
	rows := evaluated(t, nil, "-f", lines)
	if found := bytes.Count(rows, []byte("\ntrain-")); found != n {
		t.Errorf("%d rows in the table", found)
	}
}

// verdictsOf returns the verdicts in the output of eval or engine, sorted by Pod name. The engine's request ids are Pod names.
func verdictsOf(t *testing.T, lines []byte) []string {
	t.Helper()
	var all []string
	for line := range bytes.Lines(lines) {
		var answer struct {
			ID      string
			Pod     struct{ Name string }
			Verdict json.RawMessage
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmp.Or(answer.ID, answer.Pod.Name)+" "+string(answer.Verdict))
	}
	slices.Sort(all)
	return all
}

func engineVerdicts(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var requests, stdout, stderr bytes.Buffer
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		if i > 0 {
			_, name, _ := bytes.Cut(line, []byte(`"name":"`))
			name, _, _ = bytes.Cut(name, []byte(`"`))
			fmt.Fprintf(&requests, `{"id":"%s","op":"verdict","policy":%s,"pod":%s}`+"\n", name, longPolicy, line)
		}
	}
	if code := run([]string{"podverdict", "engine"}, &requests, &stdout, &stderr); code != cli.ExitFine {
		t.Fatal(stderr.String())
	}
	return verdictsOf(t, stdout.Bytes())
}

// TestLongInputMemory checks that four times as many Pods need no more memory.
func TestLongInputMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 200 MB")
	}
	skipWithRace(t)
	few, many := peak(t, writeLong(t, 50_000, false, false)), peak(t, writeLong(t, 200_000, false, false))
	t.Logf("%d MiB for 50,000 Pods, %d MiB for 200,000", few>>10, many>>10)
	if many > 200<<10 || many > few*3/2 {
		t.Errorf("%d MiB for 50,000 Pods, %d MiB for 200,000", few>>10, many>>10)
	}
}

// peak returns the peak memory, in KiB, of a separate process that evaluates a file. It is sampled as often as possible.
func peak(t *testing.T, file string) (most int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "eval", "-f", file, "-o", "ndjson")
	cmd.Args[0] = "podverdict" // as registered with testscript.Main
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			return most
		case <-time.After(10 * time.Millisecond):
		}
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if _, after, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
			_, _ = fmt.Sscan(string(after), &most)
		}
	}
}

// BenchmarkLongInput evaluates lines and Lists of small and full Pods.
//
//	go test ./cmd/podverdict -run '^$' -bench LongInput -benchtime 3x
func BenchmarkLongInput(b *testing.B) {
	for name, c := range map[string]struct {
		n          int
		full, list bool
	}{
		"pods=small": {n: 100_000}, "pods=full": {n: 20_000, full: true}, "pods=full/form=list": {n: 20_000, full: true, list: true},
	} {
		file := writeLong(b, c.n, c.full, c.list)
		b.Run(name, func(b *testing.B) {
			defer reportCPU(b)()
			for b.Loop() {
				var stderr bytes.Buffer
				if code := run([]string{"podverdict", "eval", "-f", file, "-o", "ndjson"}, nil, io.Discard, &stderr); code != cli.ExitFine {
					b.Fatal(stderr.String())
				}
			}
		})
	}
}

// reportCPU also reports CPU time, which depends less on other load. The returned function ends the measurement.
func reportCPU(b *testing.B) func() {
	b.Helper()
	used := func() int64 {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			b.Fatal(err)
		}
		return usage.Utime.Nano() + usage.Stime.Nano()
	}
	before := used()
	return func() { b.ReportMetric(float64(used()-before)/float64(b.N)/1e9, "cpu-s/op") }
}

// TestLongInputParts checks that a Job whose Pods arrive in parts is printed as one Job with one heading.
func TestLongInputParts(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run([]string{"podverdict", "eval", writeLong(t, 12_000, false, false)}, strings.NewReader(""), &stdout, &stderr); code != cli.ExitFine {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	text := stdout.String()
	if strings.Count(text, "Job default/train") != 1 || !strings.Contains(text, "12000 of 12000 Pods failed") {
		t.Errorf("got %.300s ... %s", text, text[len(text)-200:])
	}
}
