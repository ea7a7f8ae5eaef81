package protocol

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/podverdict/podverdict/conformance"
)

// smallRequest returns a policy of two rules and a pod with one container, as reported by a
// cluster.
func smallRequest(i int) string {
	return fmt.Sprintf(`{"id":"%d","op":"verdict","policy":{"rules":[`+
		`{"action":"FailJob","onExitCodes":{"containerName":"main","operator":"In","values":[42,43]}},`+
		`{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}]},`+
		`"pod":{"metadata":{"name":"train-%d-x2x9k","namespace":"team-a"},"status":{"phase":"Failed","conditions":[`+
		`{"type":"Initialized","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"},`+
		`{"type":"Ready","status":"False","reason":"PodFailed"},`+
		`{"type":"DisruptionTarget","status":%q}],"containerStatuses":[`+
		`{"name":"main","image":"example.com/train:1","ready":false,"restartCount":0,`+
		`"state":{"terminated":{"exitCode":%d,"reason":"Error","finishedAt":"2026-01-01T00:00:09Z"}}}]}}}`,
		i, i, []string{"True", "False"}[i/3%2], []int{42, 1, 137}[i%3])
}

// requests returns n lines.
func requests(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintln(&b, smallRequest(i))
	}
	return b.Bytes()
}

// BenchmarkServe measures the protocol with small requests. Run it with GOMAXPROCS=1 for requests
// per second and core.
func BenchmarkServe(b *testing.B) {
	input := requests(1000)
	for name, engine := range map[string]conformance.Engine{"cel": conformance.CEL(), "go": conformance.Go} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(input) / 1000))
			b.ReportAllocs()
			in := io.LimitReader(&repeating{input: input}, 0).(*io.LimitedReader)
			in.N = int64(b.N/1000)*int64(len(input)) + int64(lineEnd(input, b.N%1000))
			if err := Serve(b.Context(), in, io.Discard, engine); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// repeating reads the same lines repeatedly.
type repeating struct {
	input []byte
	at    int
}

func (r *repeating) Read(p []byte) (int, error) {
	n := copy(p, r.input[r.at:])
	r.at = (r.at + n) % len(r.input)
	return n, nil
}

// lineEnd returns the offset after the first n lines.
func lineEnd(input []byte, n int) int {
	end := 0
	for range n {
		end += bytes.IndexByte(input[end:], '\n') + 1
	}
	return end
}
