package protocol

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/vectors"
)

// children maps names to programs that the tests start as engines: this test binary, with the name
// as its first argument.
func children() map[string]func() error {
	return map[string]func() error{
		"go": func() error { return Serve(context.Background(), os.Stdin, os.Stdout, conformance.Go) },
		"cel": func() error {
			return Serve(context.Background(), os.Stdin, os.Stdout, conformance.CEL())
		},
		"reversed": reversed,
		"dies":     func() error { return errors.New("out of paint") },
		"silent":   func() error { time.Sleep(time.Hour); return nil },
		"deaf":     func() error { return os.Stdout.Close() },
		"garbage":  answers("Hello!\n"),
		"foreign":  answers(`{"id":"99","verdict":{}}` + "\n"),
		"unknown":  answers(`{"id":"1","answer":{}}` + "\n"),
		"empty":    answers(`{"id":"1"}` + "\n"),
		"refuses":  answers(`{"id":"1","error":"not today"}` + "\n"),
		"number":   answers(`{"id":"1","verdict":{"terminal":1}}` + "\n"),
		"named":    answers(`{"id":"1","verdict":{"terminal":true,"matched":false,"action":"Count","counted":true,"rule":7}}` + "\n"),
		"partial":  answers(`{"id":"1","verdict":{"termi`),
		"endless":  func() error { return say(strings.Repeat("x", 1<<20), 70) },
	}
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && children()[os.Args[1]] != nil {
		if err := children()[os.Args[1]](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3) //nolint:forbidigo // the child's main
		}
		return
	}
	m.Run()
}

func answers(text string) func() error {
	return func() error {
		if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
			return err
		}
		return say(text, 1)
	}
}

func say(text string, times int) error {
	for range times {
		if _, err := os.Stdout.WriteString(text); err != nil {
			return err
		}
	}
	return nil
}

// reversed answers ten requests at a time, the last one first.
func reversed() error {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, MaxLine)
	s := conversation{server: Server{Verdict: conformance.Go}}
	var out []string
	for in.Scan() {
		out = append(out, string(s.answer(context.Background(), in.Bytes(), false)))
		if len(out) == 10 {
			slices.Reverse(out)
			if err := say(strings.Join(out, ""), 1); err != nil {
				return err
			}
			out = nil
		}
	}
	return in.Err()
}

func start(t *testing.T, name string, timeout time.Duration) *Process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Exec(t.Context(), []string{self, name}, timeout)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestExecPasses(t *testing.T) {
	for _, name := range []string{"go", "cel"} {
		p := start(t, name, 0)
		report, err := vectors.Run(t.Context(), p.Verdict, all(t), vectors.Options{Engine: "exec:" + name})
		if err != nil || !report.OK() {
			var table strings.Builder
			_ = report.WriteTable(&table)
			t.Errorf("%v\n%s", err, &table)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if _, err := p.Verdict(t.Context(), named(t, "conditions/true").Request()); !errors.Is(err, errClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}

func TestExecIsPipelined(t *testing.T) {
	p := start(t, "reversed", 10*time.Second)
	some := all(t)[:100]
	var wait sync.WaitGroup
	for _, v := range some {
		wait.Go(func() {
			if got, err := p.Verdict(t.Context(), v.Request()); err != nil || !got.Equal(v.Want) {
				t.Errorf("%s: %v, %v", v.Name, got, err)
			}
		})
	}
	wait.Wait()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestExecFails(t *testing.T) {
	t.Parallel()
	tests := []struct{ child, want string }{
		{"dies", "engine: ended: out of paint: exit status 3"},
		{"deaf", "engine: ended"},
		{"silent", "engine: no answer within 200ms"},
		{"garbage", `engine: answered what is no response: "Hello!": invalid character 'H' looking for beginning of value`},
		{"foreign", `engine: answered an id that was not asked: "{\"id\":\"99\",\"verdict\":{}}"`},
		{"unknown", `engine: answered what is no response: "{\"id\":\"1\",\"answer\":{}}": unknown field "answer"`},
		{"empty", "engine: answered neither a verdict nor an error"},
		{"refuses", "engine: not today"},
		{"number", `engine: answered what is no verdict: "{\"terminal\":1}": json: cannot unmarshal number into Go struct field statedVerdict.terminal of type bool`},
		{"named", `engine: answered what is no verdict: "{\"terminal\":true,\"matched\":false,\"action\":\"Count\",\"counted\":true,\"rule\":7}": field "rule" does not apply: no rule matched`},
		{"partial", `engine: answered what is no response: "{\"id\":\"1\",\"verdict\":{\"termi": unexpected end of JSON input`},
		{"endless", "the line is longer than 67108864 bytes"},
	}
	for _, test := range tests {
		t.Run(test.child, func(t *testing.T) {
			t.Parallel()
			timeout := 20 * time.Second
			if test.child == "silent" {
				timeout = 200 * time.Millisecond
			}
			p := start(t, test.child, timeout)
			begin := time.Now()
			_, err := p.Verdict(t.Context(), named(t, "conditions/true").Request())
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			_ = p.Close()
			if d := time.Since(begin); d > 15*time.Second {
				t.Errorf("it took %v", d)
			}
		})
	}
}

func TestExecDoesNotStart(t *testing.T) {
	if _, err := Exec(t.Context(), nil, 0); !errors.Is(err, errNoCommand) {
		t.Error(err)
	}
	if _, err := Exec(t.Context(), []string{"/nowhere/at/all"}, 0); err == nil || !strings.HasPrefix(err.Error(), `engine "/nowhere/at/all" does not start: `) {
		t.Error(err)
	}
}

func TestExecIsCancelled(t *testing.T) {
	p := start(t, "silent", 20*time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Verdict(ctx, named(t, "conditions/true").Request()); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	p.kill() // it would get 20 seconds to exit normally
	if err := p.Close(); err == nil {
		t.Error("a killed child ended well")
	}
}

// all returns the vectors on verdicts.
func all(t testing.TB) []vectors.Vector {
	t.Helper()
	list, err := vectors.Verdicts()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func named(t *testing.T, name string) vectors.Vector {
	t.Helper()
	for _, v := range all(t) {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("no vector %s", name)
	return vectors.Vector{}
}
