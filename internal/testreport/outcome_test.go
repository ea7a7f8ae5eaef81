package testreport_test

import (
	"bytes"
	"encoding/xml"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/podverdict/podverdict/internal/testreport"
)

func report() testreport.Report {
	return testreport.Report{Name: "tool", Suites: []testreport.Suite{
		{Name: "one", File: "one.yaml", Cases: []testreport.Case{
			{Name: "good", Duration: 1500 * time.Millisecond},
			{Name: "bad # 1", Failure: &testreport.Reason{Message: "a\x00b", Type: "verdict", Detail: "lines\nof ]]> text"}},
		}},
		{Name: "two", Cases: []testreport.Case{
			{Name: "broken", Line: "its\x1b own line", Error: &testreport.Reason{Message: "m", Facts: []testreport.Fact{{Name: "at", Value: "7"}}}},
			{Name: "left out", Skipped: &testreport.Reason{Message: "not\nsupported"}},
		}},
	}}
}

func TestTAP(t *testing.T) {
	var out bytes.Buffer
	if err := report().WriteTAP(&out); err != nil {
		t.Fatal(err)
	}
	want := `TAP version 13
1..4
ok 1 - one: good
not ok 2 - one: bad \# 1
  ---
  message: "a\x00b"
  detail: "lines\nof ]]> text"
  ...
not ok 3 - its� own line
  ---
  at: 7
  ...
ok 4 - two: left out # SKIP not supported
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestJUnit(t *testing.T) {
	var out bytes.Buffer
	if err := report().WriteJUnit(&out); err != nil {
		t.Fatal(err)
	}
	var got junit.Testsuites
	if err := xml.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 4 || got.Failures != 1 || got.Errors != 1 || got.Skipped != 1 || len(got.Suites) != 2 {
		t.Errorf("%+v", got)
	}
	one, two := got.Suites[0], got.Suites[1]
	if one.File != "one.yaml" || one.ID != 0 || two.ID != 1 || one.Testcases[0].Time != "1.500000" || one.Testcases[0].Classname != "one" {
		t.Errorf("%+v", got)
	}
	want := &junit.Result{Message: "a\ufffdb", Type: "verdict", Data: "lines\nof ]]> text"}
	if diff := cmp.Diff(want, one.Testcases[1].Failure); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if two.Testcases[0].Error == nil || two.Testcases[1].Skipped == nil {
		t.Errorf("%+v", two)
	}
}
