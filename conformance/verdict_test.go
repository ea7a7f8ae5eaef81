package conformance_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/conformance"
)

// TestParseVerdictRefuses checks that an answer that violates the contract is rejected, even if its
// meaning could be guessed.
func TestParseVerdictRefuses(t *testing.T) {
	tests := []struct{ answer, want string }{
		{`{"TERMINAL":true,"matched":false,"action":"Count","counted":true}`, `unknown field "TERMINAL"`},
		{`{"terminal":true,"matched":false,"action":"Count","counted":true,"bogus":1}`, `unknown field "bogus"`},
		{`{"terminal":true,"matched":false,"action":"Count","counted":true,"counted":true}`, `duplicate field "counted"`},
		{`{"terminal":true,"matched":false,"action":"Count","counted":true,"rule":7}`, `field "rule" does not apply: no rule matched`},
		{`{"terminal":true,"matched":false,"action":"Count","counted":true,"rule":-1}`, `field "rule" does not apply: no rule matched`},
		{`{"terminal":true,"matched":false,"action":"Count","counted":true,"rule":null}`, `field "rule" is null, not absent`},
		{`{"terminal":true,"matched":false,"action":"Count","counted":true,"ruleName":"r"}`, `field "ruleName" does not apply: no rule matched`},
		{`{"terminal":true,"matched":false,"action":"Count","counted":true,"exitCode":0}`, `exitCode is 0, which no rule matches`},
		{`{"terminal":true,"matched":false,"action":"Count","counted":true,"container":"main"}`, `field "container" does not apply: no exit code matched`},
		{`{"terminal":true,"matched":false,"action":"Count","counted":true,"condition":"Ready"}`, `field "condition" does not apply: no rule matched`},
		{`{"terminal":true,"matched":false,"action":"Count","counted":true,"message":"no"}`, `field "message" does not apply: no rule matched`},
		{`{"terminal":true,"matched":false,"action":"count","counted":true}`, `unknown action "count"`},
		{`{"terminal":true,"matched":false,"counted":true}`, `field "action" is required`},
		{`{"terminal":false,"matched":false,"action":"Count","counted":false}`, `field "action" does not apply: the pod is not terminal`},
		{`{"matched":false,"counted":false}`, `field "terminal" is required`},
		{`{"terminal":false,"counted":false}`, `field "matched" is required`},
		{`{"terminal":false,"matched":false}`, `field "counted" is required`},
		{`{"terminal":false,"matched":true,"counted":false}`, `field "matched" does not apply: the pod is not terminal`},
		{`{"terminal":true,"matched":true,"action":"Count","counted":true,"condition":"Ready","message":"m"}`, `field "rule" is required`},
		{`{"terminal":true,"matched":true,"action":"Count","counted":true,"rule":0,"condition":"Ready"}`, `field "message" is required`},
		{`{"terminal":true,"matched":true,"action":"Count","counted":true,"rule":0,"exitCode":1,"message":"m"}`, `field "container" is required`},
		{`{"terminal":true,"matched":true,"action":"Count","counted":true,"rule":0,"container":"main","message":"m"}`, `field "container" does not apply: no exit code matched`},
		{`{"terminal":true,"matched":true,"action":"Count","counted":true,"rule":0,"container":"main","exitCode":1,"condition":"Ready","message":"m"}`, `field "container" does not apply: no exit code matched`},
		{`{"terminal":1,"matched":false,"counted":true}`, `json: cannot unmarshal number into Go struct field statedVerdict.terminal of type bool`},
		{`null`, `field "terminal" is required`},
		{`[]`, `json: cannot unmarshal array into Go value of type conformance.statedVerdict`},
	}
	for _, test := range tests {
		v, err := conformance.ParseVerdict([]byte(test.answer))
		if err == nil || err.Error() != test.want {
			t.Errorf("%s\ngot  %+v, %v\nwant %s", test.answer, v, err, test.want)
		}
	}
}

// TestParseVerdict parses the answers of our own engines and the contract's example, in which texts
// that do not apply are empty.
func TestParseVerdict(t *testing.T) {
	for _, v := range all(t) {
		text, err := json.Marshal(v.Want)
		if err != nil {
			t.Fatal(err)
		}
		empty := strings.TrimSuffix(string(text), "}")
		for _, field := range []string{"action", "ruleName", "container", "condition", "message", "error"} {
			if !strings.Contains(empty, `"`+field+`":`) {
				empty += `,"` + field + `":""`
			}
		}
		for _, answer := range []string{string(text), empty + "}"} {
			if got, err := conformance.ParseVerdict([]byte(answer)); err != nil || !got.Equal(v.Want) {
				t.Errorf("%s: %s\ngot %+v, %v", v.Name, answer, got, err)
			}
		}
	}
	nameless := `{"terminal":true,"matched":true,"action":"Ignore","counted":false,"rule":0,"message":"Pod n/p has condition  matching Ignore rule at index 0"}`
	if v, err := conformance.ParseVerdict([]byte(nameless)); err != nil || v.Condition != "" || !v.Matched {
		t.Errorf("a condition without a name: %+v, %v", v, err)
	}
}
