package protocol

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/runtime"
)

// served returns the answers to one or more lines.
func served(t testing.TB, in io.Reader, engine conformance.Engine) []string {
	t.Helper()
	var out bytes.Buffer
	if err := Serve(t.Context(), in, &out, engine); err != nil {
		t.Fatal(err)
	}
	if out.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

const (
	ruled   = `"policy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[42]}}]}`
	failed  = `"pod":{"metadata":{"name":"p","namespace":"default"},"status":{"phase":"Failed","containerStatuses":[{"name":"main","state":{"terminated":{"exitCode":42}}}]}}`
	matched = `{"terminal":true,"matched":true,"action":"FailJob","counted":true,"rule":0,"container":"main","exitCode":42,` +
		`"message":"Container main for pod default/p failed with exit code 42 matching FailJob rule at index 0"}`
	unmatched = `{"terminal":true,"matched":false,"action":"Count","counted":true}`
)

// withStatus returns a request about a pod with the given status.
func withStatus(status string) string {
	return `{"op":"verdict",` + ruled + `,"pod":{"status":` + status + `}}`
}

// exchanges lists lines with their answers.
var exchanges = []struct{ name, line, want string }{
	{"match", `{"id":"1","op":"verdict",` + ruled + `,` + failed + `}`, `{"id":"1","verdict":` + matched + `}`},
	{"any order of fields", `{` + failed + `,` + ruled + `,"op":"verdict","id":"1"}`, `{"id":"1","verdict":` + matched + `}`},
	{"spaces and return", "  { \"id\" :\t\"1\", \"op\":\"verdict\" ," + ruled + ` , ` + failed + " }  \r", `{"id":"1","verdict":` + matched + `}`},
	{"escaped names and values", `{"\u0069d":"1","op":"ver\u0064ict",` + ruled + `,` + strings.NewReplacer("state", `st\u0061te`, "main", `m\u0061in`).Replace(failed) + `}`, `{"id":"1","verdict":` + matched + `}`},
	{"the id as it was written", `{"id":"\u0061\/\ud83d\ude00\"","op":"verdict",` + ruled + `,` + failed + `}`, `{"id":"\u0061\/\ud83d\ude00\"","verdict":` + matched + `}`},
	{"a number as id", `{"id":1e400,"op":"verdict",` + ruled + `,` + failed + `}`, `{"id":1e400,"verdict":` + matched + `}`},
	{"no id", `{"op":"verdict",` + ruled + `,` + failed + `}`, `{"verdict":` + matched + `}`},
	{"null id", `{"id":null,"op":"verdict",` + ruled + `,` + failed + `}`, `{"verdict":` + matched + `}`},
	{"no policy", `{"op":"verdict",` + failed + `}`, `{"verdict":` + unmatched + `}`},
	{"null policy", `{"op":"verdict","policy":null,` + failed + `}`, `{"verdict":` + unmatched + `}`},
	{"version", `{"op":"verdict","kubernetes":"1.28",` + strings.Replace(ruled, "FailJob", "FailIndex", 1) + `,` + failed + `}`, `{"verdict":` + unmatched + `}`},
	{"fields of validate", `{"op":"verdict","job":{"a":[1]},"oldJob":null,` + failed + `}`, `{"verdict":` + unmatched + `}`},
	{"unknown fields of the pod", `{"op":"verdict","pod":{"spec":5,"x":[{}],"metadata":{"uid":7},"status":{"phase":"Running","y":{"z":[]}}}}`, `{"verdict":{"terminal":false,"matched":false,"counted":false}}`},
	{"nulls in the pod", `{"op":"verdict","pod":{"metadata":null,"status":{"phase":null,"conditions":null,"containerStatuses":[null,{"state":null},{"name":null,"state":{"terminated":null}},{"state":{"terminated":{"exitCode":null}}}]}}}`, `{"verdict":` + unmatched + `}`},
	{"empty pod", `{"op":"verdict","pod":{}}`, `{"verdict":` + unmatched + `}`},
	{"case of fields", withStatus(`{"Phase":"Running","containerStatuses":[{"state":{"Terminated":{"exitCode":42}}}]}`), `{"verdict":` + unmatched + `}`},
	{"illegal policy", `{"op":"verdict","policy":{"rules":[{"action":"Explode","onExitCodes":{"operator":"NotIn","values":[]}}]},` + failed + `}`, `{"verdict":` + unmatched + `}`},

	{"empty line", ``, `{"error":"the line is empty"}`},
	{"no JSON", `Hello`, `{"error":"not JSON: invalid character 'H' at start of value"}`},
	{"no object", `["id","1"]`, `{"error":"the request is not an object"}`},
	{"null", `null`, `{"error":"op is required: verdict or validate"}`},
	{"cut off", `{"id":"7","op":"verdict","pod":{"status":`, `{"id":"7","error":"not JSON: unexpected EOF within \"/pod/status\" after offset 41"}`},
	{"no op", `{"id":"7",` + failed + `}`, `{"id":"7","error":"op is required: verdict or validate"}`},
	{"unknown op", `{"id":"7","op":"Verdict",` + failed + `}`, `{"id":"7","error":"unknown op \"Verdict\": want verdict or validate"}`},
	{"validate", `{"id":"7","op":"validate","job":{}}`, `{"id":"7","error":"op \"validate\" is not answered here: it needs the Rego bundles"}`},
	{"no pod", `{"id":"7","op":"verdict",` + ruled + `}`, `{"id":"7","error":"pod is required"}`},
	{"null pod", `{"id":"7","op":"verdict","pod":null}`, `{"id":"7","error":"pod is required"}`},
	{"pod is no object", `{"id":"7","op":"verdict","pod":[]}`, `{"id":"7","error":"/pod is not an object"}`},
	{"id is no string", `{"id":{"a":1},"op":"verdict",` + failed + `}`, `{"error":"/id is not a string"}`},
	{"op is no string", `{"id":"7","op":5,` + failed + `}`, `{"id":"7","error":"/op is not a string"}`},
	{"id after the error", `{"op":5,"x":[{"id":"6"}],"id":"7"}`, `{"id":"7","error":"/op is not a string"}`},
	{"unknown field", `{"id":"7","op":"verdict","polciy":{},` + failed + `}`, `{"id":"7","error":"unknown field \"polciy\""}`},
	{"case of the field", `{"ID":"7","op":"verdict",` + failed + `}`, `{"error":"unknown field \"ID\""}`},
	{"unknown policy field", `{"id":"7","op":"verdict","policy":{"rules":[{"onexitcodes":{}}]},` + failed + `}`, `{"id":"7","error":"policy: unknown field \"rules[0].onexitcodes\""}`},
	{"wrong type in the policy", `{"id":"7","op":"verdict","policy":{"rules":{}},` + failed + `}`, `{"id":"7","error":"policy: json: cannot unmarshal object into Go struct field PodFailurePolicy.rules of type []v1.PodFailurePolicyRule"}`},
	{"exit code over 32 bits", withStatus(`{"containerStatuses":[{"state":{"terminated":{"exitCode":4294967338}}}]}`), `{"error":"/pod/status/containerStatuses/0/state/terminated/exitCode is not a whole number of 32 bits"}`},
	{"exit code over all bits", withStatus(`{"containerStatuses":[{"state":{"terminated":{"exitCode":1` + strings.Repeat("0", 400) + `}}}]}`), `{"error":"/pod/status/containerStatuses/0/state/terminated/exitCode is not a whole number of 32 bits"}`},
	{"exit code with a fraction", withStatus(`{"containerStatuses":[{"state":{"terminated":{"exitCode":42.0}}}]}`), `{"error":"/pod/status/containerStatuses/0/state/terminated/exitCode is not a whole number of 32 bits"}`},
	{"exit code as text", withStatus(`{"initContainerStatuses":[{"state":{"terminated":{"exitCode":"42"}}}]}`), `{"error":"/pod/status/initContainerStatuses/0/state/terminated/exitCode is not a whole number of 32 bits"}`},
	{"phase is no string", withStatus(`{"phase":true}`), `{"error":"/pod/status/phase is not a string"}`},
	{"conditions are no array", withStatus(`{"conditions":{}}`), `{"error":"/pod/status/conditions is not an array"}`},
	{"condition is no object", withStatus(`{"conditions":[null,7]}`), `{"error":"/pod/status/conditions/1 is not an object"}`},
	{"bad version", `{"id":"7","op":"verdict","kubernetes":"latest",` + failed + `}`, `{"id":"7","error":"kubernetes version \"latest\": could not parse \"latest\" as version"}`},
}

func TestServe(t *testing.T) {
	for _, test := range exchanges {
		t.Run(test.name, func(t *testing.T) {
			// A valid line before and after shows that processing continues unaffected.
			good := `{"id":"g","op":"verdict",` + ruled + `,` + failed + "}\n"
			got := served(t, strings.NewReader(good+test.line+"\n"+good), conformance.Go)
			want := []string{`{"id":"g","verdict":` + matched + `}`, test.want, `{"id":"g","verdict":` + matched + `}`}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			for _, line := range got {
				if !json.Valid([]byte(line)) {
					t.Errorf("no JSON: %s", line)
				}
			}
		})
	}
}

// TestServeAnswersAtOnce checks that an answer is not delayed until the next line is complete.
func TestServeAnswersAtOnce(t *testing.T) {
	requests, out := io.Pipe()
	in, answers := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(context.Background(), requests, answers, conformance.Go) }()
	lines := bufio.NewReader(in)
	line := smallRequest(1) + "\n"
	for _, part := range []string{line + line[:100], line[100:]} {
		if _, err := io.WriteString(out, part); err != nil {
			t.Fatal(err)
		}
		if got, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(got, `{"id":"1","verdict":`) {
			t.Fatal(got, err)
		}
	}
	_ = out.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestServeLongLines(t *testing.T) {
	good := smallRequest(1) + "\n"
	long := `{"id":"7","op":"` + strings.Repeat("x", MaxLine) + "\"}\n"
	fits := `{"id":"8","op":"verdict","pod":{},"job":"` + strings.Repeat("x", MaxLine-45) + "\"}\n"
	got := served(t, io.MultiReader(strings.NewReader(good), strings.NewReader(long), strings.NewReader(fits), strings.NewReader(good)), conformance.Go)
	want := []string{got[0], `{"id":"7","error":"the line is longer than 67108864 bytes"}`, `{"id":"8","verdict":` + unmatched + `}`, got[0]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestServeFails(t *testing.T) {
	broken := errors.New("broken")
	line := smallRequest(1) + "\n"
	if err := Serve(t.Context(), io.MultiReader(strings.NewReader(line), iotest.ErrReader(broken)), io.Discard, conformance.Go); !errors.Is(err, broken) {
		t.Errorf("reading: %v", err)
	}
	if err := Serve(t.Context(), strings.NewReader(line), brokenWriter{broken}, conformance.Go); !errors.Is(err, broken) {
		t.Errorf("writing: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Serve(ctx, &repeating{input: []byte(line)}, io.Discard, conformance.Go); !errors.Is(err, context.Canceled) {
		t.Errorf("context: %v", err)
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestServeSurvivesTheEngine(t *testing.T) {
	engine := func(_ context.Context, r conformance.Request) (runtime.Verdict, error) {
		if r.Pod.Name == "train-0-x2x9k" {
			panic("at the \xff disco") //nolint:forbidigo // what is tested
		}
		return runtime.Verdict{}, errors.New("no\nidea")
	}
	got := served(t, bytes.NewReader(requests(2)), engine)
	want := []string{"{\"id\":\"0\",\"error\":\"panic: at the \uFFFD disco\"}", `{"id":"1","error":"no\nidea"}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func heapInUse() uint64 {
	debug.FreeOSMemory() // collects first
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
