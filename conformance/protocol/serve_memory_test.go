package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/internal/testing/generators"
)

// hostile generates JSON requests that maximize the use of some resource. Every number results in a
// different policy.
type hostile struct {
	lines   int // number of lines that fill the caches, or take seconds
	request func(i int) string
}

// hostileRequests returns requests by content. The cached policies are just small enough for the
// caches.
func hostileRequests() map[string]hostile {
	return map[string]hostile{
		"100,000 values":                 {3, func(i int) string { return codesPolicy(i, 100_000) }},
		"32,000 values, kept":            {20, func(i int) string { return codesPolicy(i, 32_000) }},
		"65,536 empty patterns":          {3, func(i int) string { return patternsPolicy(i, 65_536) }},
		"20,000 empty patterns, kept":    {40, func(i int) string { return patternsPolicy(i, 20_000) }},
		"65,536 empty rules":             {3, func(i int) string { return rulesPolicy(i, 65_536, `{}`) }},
		"140 rules of 100 statuses":      {1, func(i int) string { return rulesPolicy(i, 140, statusesRule(100)) }},
		"35 rules of 100 statuses, kept": {3, func(i int) string { return rulesPolicy(i, 35, statusesRule(100)) }},
		"101 statuses":                   {1, func(i int) string { return rulesPolicy(i, 1, statusesRule(101)) }},
		"longest legal CEL, kept":        {120, longestPolicy},
		"65,536 empty statuses":          {3, emptyStatuses},
	}
}

func repeated(element string, n int) string {
	return strings.TrimSuffix(strings.Repeat(element+",", n), ",")
}

func codesPolicy(i, n int) string {
	return withPolicy(fmt.Sprintf(`[{"action":"FailJob","onExitCodes":{"operator":"In","values":[%d,%s]}}]`, 1000+i, repeated("7", n-1)))
}

func patternsPolicy(i, n int) string {
	return withPolicy(fmt.Sprintf(`[{"action":"Ignore","onPodConditions":[{"type":"%d"},%s]}]`, i, repeated("{}", n-1)))
}

func rulesPolicy(i, n int, rule string) string {
	return withPolicy(fmt.Sprintf(`[{"action":"%d"},%s]`, i, repeated(rule, n)))
}

func statusesRule(n int) string {
	patterns := make([]string, n)
	for i := range patterns {
		patterns[i] = fmt.Sprintf(`{"status":"%d"}`, i)
	}
	return fmt.Sprintf(`{"action":"Count","onPodConditions":[%s]}`, strings.Join(patterns, ","))
}

func longestPolicy(i int) string {
	policy := generators.Sizes()[3].Policy
	*policy.Rules[0].OnExitCodes.ContainerName += fmt.Sprint(i)
	text, err := json.Marshal(policy.Rules)
	if err != nil {
		return err.Error()
	}
	return withPolicy(string(text))
}

func withPolicy(rules string) string { return `"policy":{"rules":` + rules + `},` + failed }

func emptyStatuses(i int) string {
	lists := make([]string, 3)
	for n, name := range []string{"containerStatuses", "initContainerStatuses", "conditions"} {
		lists[n] = fmt.Sprintf(`%q:[%s]`, name, repeated("{}", 65_536))
	}
	return fmt.Sprintf(`%s,"pod":{"metadata":{"name":"p%d"},"status":{%s}}`, ruled, i, strings.Join(lists, ","))
}

// TestServeHostileRequestsInBoundedMemory checks memory use between two lines, when only the caches
// hold memory. They count bytes of text, not policies, so that hostile text does not fill them.
func TestServeHostileRequestsInBoundedMemory(t *testing.T) {
	const kept = 128 << 20
	for name, h := range hostileRequests() {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && !strings.Contains(name, "empty statuses") {
				t.Skip("compiles the largest policies, which takes too long for go test -short")
			}
			var lines bytes.Buffer
			for i := range h.lines {
				fmt.Fprintf(&lines, `{"id":"%d","op":"verdict",%s}`+"\n", i, h.request(i))
			}
			want := served(t, bytes.NewReader(lines.Bytes()), conformance.Go)
			if name == "101 statuses" {
				want = []string{`{"id":"0","error":"rules[1]: onPodConditions asks for more than 100 different statuses"}`}
			}
			fmt.Fprintln(&lines, smallRequest(1)) // the memory of a huge line is released after the next line
			want = append(want, served(t, strings.NewReader(smallRequest(1)), conformance.Go)...)
			in := &measured{rest: lines.Bytes(), before: heapInUse()}
			allocated := totalAllocated()
			var out bytes.Buffer
			if err := Serve(t.Context(), in, &out, conformance.CEL()); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d lines of %d bytes: %d MiB in use, %d MiB allocated a line", h.lines, lines.Len()/h.lines, in.held>>20,
				(totalAllocated()-allocated)>>20/uint64(h.lines))
			if in.held > kept {
				t.Errorf("%d MiB in use after %d lines", in.held>>20, h.lines)
			}
			if diff := cmp.Diff(want, strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestServeHoldsALongLineOnce checks that while Serve waits for the next line, it retains only the
// text of a long one.
func TestServeHoldsALongLineOnce(t *testing.T) {
	text := `{"op":"verdict","job":"`
	line := text + strings.Repeat("x", MaxLine-1000) + `",` + failed + "}\n"
	in := &measured{rest: []byte(line), before: heapInUse()}
	if err := Serve(t.Context(), in, io.Discard, conformance.Go); err != nil {
		t.Fatal(err)
	}
	if in.held > 2*MaxLine-MaxLine/4 {
		t.Errorf("%d MiB in use after a line of %d MiB", in.held>>20, len(line)>>20)
	}
}

// measured reads its bytes, and at the end measures the additional memory in use since before.
type measured struct {
	rest   []byte
	before uint64
	held   int64
}

func (m *measured) Read(p []byte) (int, error) {
	if len(m.rest) == 0 {
		m.held = int64(heapInUse()) - int64(m.before)
		return 0, io.EOF
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

func totalAllocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestServeRefusesLongPolicies(t *testing.T) {
	line := func(padding int) string {
		return `{"op":"verdict","policy":{"rules":[]` + strings.Repeat(" ", padding) + `},` + failed + "}\n"
	}
	fits := maxPolicy - len(`{"rules":[]}`)
	got := served(t, strings.NewReader(line(fits)+line(fits+1)), conformance.Go)
	want := []string{`{"verdict":` + unmatched + `}`, `{"error":"policy: longer than 262144 bytes"}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
