package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/podverdict/podverdict/conformance"
)

// span is where a name or a value stands in a line.
type span struct {
	from, to int
	name     bool
}

// TestServeMutations changes one to three places in the requests of the vectors, keeps
// most of them JSON, and holds the answer to that of the long way.
func TestServeMutations(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	judged, refused := 0, 0
	mutations, least := 60, 1000
	if testing.Short() {
		mutations, least = 3, 50
	}
	for _, v := range all(t) {
		if v.Kubernetes != "" || v.Policy != nil && len(v.Policy.Rules) > 5 {
			continue
		}
		for range mutations {
			line := wireLine(t, v)
			for range 1 + random.IntN(3) {
				line = mutate(random, line)
			}
			answer := served(t, bytes.NewReader(append(slices.Clone(line), '\n')), conformance.Go)
			if len(answer) != 1 {
				t.Fatalf("%d answers to %s", len(answer), line)
			}
			if err := compare(line, answer[0]); err != nil {
				t.Fatalf("%v\n%s\n%s", err, line, answer[0])
			}
			if strings.Contains(answer[0], `"error":`) {
				refused++
			} else {
				judged++
			}
		}
	}
	if judged < least || refused < least {
		t.Errorf("one-sided: %d judged, %d refused", judged, refused)
	}
}

// mutate replaces, repeats or renames at one place of a line.
func mutate(random *rand.Rand, line []byte) []byte {
	spans := spansOf(line)
	if len(spans) == 0 {
		return line
	}
	s := spans[random.IntN(len(spans))]
	text := string(line[s.from:s.to])
	switch {
	case !s.name:
		text = values[random.IntN(len(values))]
	case random.IntN(4) == 0:
		text = `"extra":[{"a":null}],` + text
	case random.IntN(3) == 0:
		text += `:null,` + text // the name twice
	case random.IntN(2) == 0:
		text = fmt.Sprintf(`"\u%04x%s`, text[1], text[2:])
	default:
		text = strings.ToUpper(text)
	}
	return slices.Concat(line[:s.from], []byte(text), line[s.to:])
}

// values are what a value may be replaced by.
var values = [...]string{
	`null`, `true`, `0`, `-0`, `42`, `42.0`, `4e1`, `2147483648`, `-2147483648`, `1e999`, `""`, `"x"`, `"Failed"`, `"FailJob"`,
	`"\u0046ailed"`, `"\ud83d\ude00"`, `"\ud800"`, "\"\xff\"", `[]`, `[null]`, `[{}]`, `{}`, `{"a":1,"a":2}`, ` `, `nul`, `{"exitCode":42}`,
}

// spansOf finds all names and values of a line, up to where it is no longer JSON.
func spansOf(line []byte) []span {
	var spans []span
	d := jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var open []int // indexes of objects and arrays that have not ended
	for {
		token, err := d.ReadToken()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return spans[:len(spans)-len(open)]
			}
			return spans
		}
		end := int(d.InputOffset())
		switch token.Kind() {
		case '{', '[':
			open = append(open, len(spans))
			spans = append(spans, span{from: end - 1, to: end})
		case '}', ']':
			spans[open[len(open)-1]].to = end
			open = open[:len(open)-1]
		default:
			kind, length := d.StackIndex(d.StackDepth())
			begin := end - len(token.String())
			if token.Kind() == '"' {
				begin = bytes.LastIndexByte(line[:end-1], '"')
			}
			spans = append(spans, span{from: begin, to: end, name: kind == '{' && length%2 == 1})
		}
	}
}
